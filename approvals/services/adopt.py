"""Adopt: make a database that was restored from a copy this installation's own, so that it sends again, carefully."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Count, Max

from approvals.connectors.base import Capability
from approvals.domain.actor import Actor
from approvals.domain.errors import Unavailable
from approvals.domain.states import LIVE_APPROVAL, DeliveryState
from approvals.models import Approval, Attempt, ChannelConfig, Delivery, Installation
from approvals.permissions import Verb, require
from approvals.services import audit, door, rendering
from approvals.services.door import Clock


@dataclass(frozen=True, slots=True)
class Concerned:
    """How many sends adopting concerns, by what happens to the first of each instead of sending.

    `looked_up` are looked for at their remote, `deduped` go again under the same id to a receiver that keeps one of
    them, `for_a_person` wait for somebody who finds out. `in_flight` were under way in the copy and are settled as
    what is under way always is.
    """

    looked_up: int = 0
    deduped: int = 0
    for_a_person: int = 0
    in_flight: int = 0


@dataclass(frozen=True, slots=True)
class Adoption:
    """Whose the database was and becomes, and what that concerns."""

    former: str
    instance: str
    concerned: Concerned

    @property
    def is_same_installation(self) -> bool:
        return self.former == self.instance


def foresee() -> Adoption:
    """Says what `adopt` would do now. Changes nothing."""
    return _adoption(_installation(Installation.objects.first()))


def adopt(*, actor: Actor, clock: Clock) -> Adoption:
    """Writes the configured instance id into the database and notes the moment.

    What was approved before it is not sent before it was looked for: between the copy and the restore the original
    may have sent it. Adopting again moves the moment, which costs look-ups and is never wrong.
    """

    def body() -> Adoption:
        require(actor, Verb.CONFIGURE)
        installation = _installation(Installation.objects.select_for_update().first())
        adoption = _adoption(installation)
        now = clock()
        installation.instance_id = settings.REVIEWROOM_INSTANCE
        installation.adopted_at = _not_before_any_approval(now)
        installation.save(update_fields=["instance_id", "adopted_at"])
        audit.append(chain=audit.SYSTEM_CHAIN, actor=actor, action="database.adopted", now=now, details=_told(adoption))
        return adoption

    return door.run(body, actor=actor, verb=Verb.CONFIGURE)


def _installation(found: Installation | None) -> Installation:
    if found is None:
        raise Unavailable("This database has no tables of Review Room yet. Run manage.py migrate.")
    return found


def _adoption(installation: Installation) -> Adoption:
    return Adoption(installation.instance_id, settings.REVIEWROOM_INSTANCE, _concerned())


def _not_before_any_approval(now: datetime) -> datetime:
    """Gives a moment that nothing in the database is later than, also where the clock of a new server is behind."""
    opened = Approval.objects.aggregate(newest=Max("opened_at"))["newest"]
    started = Attempt.objects.aggregate(newest=Max("started_at"))["newest"]
    return max(moment for moment in (now, opened, started) if moment is not None)


def _concerned() -> Concerned:
    counts = dict.fromkeys(("looked_up", "deduped", "for_a_person"), 0)
    for config, operation, number in _first_sends():
        counts[_instead(config, operation)] += number
    flying = Delivery.objects.filter(state__in=(DeliveryState.SENDING, DeliveryState.UNKNOWN))
    return Concerned(**counts, in_flight=flying.count())


def _first_sends() -> Iterator[tuple[ChannelConfig, str, int]]:
    """Gives what may still be sent, per channel configuration and operation."""
    unsent = Approval.objects.filter(state__in=LIVE_APPROVAL)
    waiting = Delivery.objects.filter(state=DeliveryState.WAITING, kind=Delivery.Kind.WRITE)
    configs = ChannelConfig.objects.select_related("channel")
    for found, operation in ((unsent, "revision__operation"), (waiting, "approval__revision__operation")):
        rows = found.order_by().values_list("config_id", operation).annotate(number=Count("pk"))
        for config_id, name, number in rows:
            yield configs.get(pk=config_id), name, number


def _instead(config: ChannelConfig, operation: str) -> str:
    can = rendering.capabilities(config, operation)
    if Capability.LOOKUP in can:
        return "looked_up"
    dedupes = Capability.IDEMPOTENCY_KEY in can and not config.channel.is_exclusive
    return "deduped" if dedupes else "for_a_person"


def _told(adoption: Adoption) -> dict[str, object]:
    return {"former": adoption.former, "instance": adoption.instance, **asdict(adoption.concerned)}
