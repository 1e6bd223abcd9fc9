"""What an exclusive target holds now: read by a worker, shown to reviewers beside the draft. Evidence of nothing."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import SystemRandom

from django.conf import settings

from approvals.connectors.base import Job, Reading
from approvals.domain import retry
from approvals.domain.actor import Actor
from approvals.domain.errors import Refusal
from approvals.domain.states import DeliveryState
from approvals.models import ChannelConfig, Delivery, Draft, Revision, Target, TargetReading
from approvals.permissions import Verb, require
from approvals.services import door, locks, rendering
from approvals.services.door import Clock, Subject

TRIES = 5
"""Failed readings in a row after which the page says so and nobody asks again by itself."""
_random = SystemRandom()


@dataclass(frozen=True, slots=True)
class Ask:
    """One reading, taken by one worker."""

    target_id: int
    version: int
    job: Job


def begin_reading(*, actor: Actor, clock: Clock, target_id: int) -> Ask | None:
    """Takes a due reading for this worker; None if it is taken, not due, or there is nothing to ask with."""

    def body() -> Ask | None:
        require(actor, Verb.WORK)
        target = locks.target(target_id)
        reading = TargetReading.objects.filter(target_id=target_id).first()
        now = clock()
        if reading is None or reading.next_read_at is None or reading.next_read_at > now:
            return None
        job = _job(target)
        later = now + timedelta(seconds=settings.REVIEWROOM_LEASE_SECONDS)
        reading.next_read_at = later if job is not None else None
        reading.save(update_fields=["next_read_at"])
        return Ask(target.pk, target.version, job) if job is not None else None

    return door.run(body, actor=actor, verb=Verb.WORK)


def record_reading(*, actor: Actor, clock: Clock, ask: Ask, seen: Reading) -> None:
    """Keeps what was read. A target that moved on meanwhile is read once more; one that did not answer, a few times."""

    def body() -> None:
        require(actor, Verb.WORK)
        target = locks.target(ask.target_id)
        reading = TargetReading.objects.get(target_id=target.pk)
        now = clock()
        reading.known, reading.reason = seen.known, seen.reason[:1000]
        if seen.known:  # what was read before stands, with the version it was read at
            reading.content, reading.read_at, reading.version = seen.content, now, ask.version
        reading.failure_count = 0 if seen.known else reading.failure_count + 1
        reading.next_read_at = _next(reading, moved=target.version != ask.version, now=now)
        reading.save()

    door.run(body, actor=actor, verb=Verb.WORK)


def ask_again(*, actor: Actor, clock: Clock, draft_id: int) -> Draft:
    """Has a draft's target read now, for whoever may read the draft."""

    def body() -> Draft:
        seen = Draft.objects.filter(pk=draft_id).first()
        if seen is not None:
            locks.target(seen.target_id)
        draft = locks.draft(draft_id)
        now = clock()
        require(actor, Verb.READ, draft=draft)
        schedule(draft.target_id, now)
        return draft

    return door.run(body, actor=actor, verb=Verb.READ, subject=Subject(draft_id=draft_id))


def schedule(target_id: int, now: datetime) -> None:
    """Makes the reading of a target due. Inside a door, the target locked."""
    defaults = {"next_read_at": now, "failure_count": 0}
    TargetReading.objects.update_or_create(target_id=target_id, defaults=defaults)


def _next(reading: TargetReading, *, moved: bool, now: datetime) -> datetime | None:
    if moved:
        return now
    if reading.known or reading.failure_count >= TRIES:
        return None
    return now + timedelta(seconds=retry.backoff(reading.failure_count, jitter=_random.random()))


def _job(target: Target) -> Job | None:
    """Gives something to ask with: the newest write that was delivered there, else the newest draft for it."""
    writes = Delivery.objects.filter(target=target, kind=Delivery.Kind.WRITE, state=DeliveryState.DELIVERED)
    write = writes.select_related("config__channel", "approval__revision").order_by("-delivered_at").first()
    if write is not None:
        return _asking(write.approval.revision, write.config, write)
    revision = Revision.objects.filter(target=target, channel__retired_at=None).order_by("-id").first()
    if revision is None or revision.channel.config is None:
        return None
    return _asking(revision, revision.channel.config, None)


def _asking(revision: Revision, config: ChannelConfig, write: Delivery | None) -> Job | None:
    approval = revision.approvals.order_by("-opened_at").first()
    write_id = write.pk if write is not None else approval.write_id if approval is not None else None
    if write_id is None:
        return None
    try:
        request = rendering.render(revision, write_id, config)
    except Refusal:
        return None  # these bytes no longer fit the channel, so they cannot ask for the others either
    return Job(
        request=request,
        binding=rendering.binding_of(revision),
        delivery_id=write_id,
        settings=rendering.settings_of(config),
        operation=revision.operation,
        remote_id=(write.remote_id or None) if write is not None else None,
    )
