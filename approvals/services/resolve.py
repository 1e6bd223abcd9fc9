"""Resolve: a person looked at the remote and records, with evidence, what is there."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from approvals.connectors.classify import usable_id
from approvals.domain import words
from approvals.domain.actor import Actor
from approvals.domain.errors import InvalidPayload, NotEligible, NotFound, WrongState
from approvals.domain.states import DeliveryState
from approvals.models import Attempt, Delivery, Draft, Exclusion, Observation
from approvals.permissions import Verb, require
from approvals.services import audit, claims, door, ground, locks, outcomes, undoing
from approvals.services.door import Clock, Key, Subject


class Said(StrEnum):
    """What the person found. Of a retraction, `delivered` means that the object is gone."""

    DELIVERED = "delivered"
    NOT_DELIVERED = "not_delivered"


@dataclass(frozen=True, slots=True)
class Finding:
    """What somebody says they saw at the remote, as received; nothing in it has been checked."""

    outcome: Any
    evidence: Any
    remote_id: Any = None


@dataclass(frozen=True, slots=True)
class _Case:
    """Everything a finding is about, locked."""

    delivery: Delivery
    draft: Draft
    attempt: Attempt | None


def resolve(*, actor: Actor, clock: Clock, delivery_id: UUID, finding: Finding, key: Key | None = None) -> Draft:
    """Settles an unknown or held delivery, or a retraction nobody could verify, by a person's word.

    Never by an author of the draft, and `not_delivered` only after the in-flight horizon: until then a stopped worker
    may wake and send. Raises NotEligible, InvalidPayload or WrongState.
    """
    found = Delivery.objects.filter(pk=delivery_id).values_list("draft_id", "target_id").first()
    draft_id, target_id = found or (None, None)

    def body() -> Draft:
        if draft_id is None or target_id is None:
            raise NotFound()
        return _resolve(actor, clock, draft_id=draft_id, target_id=target_id, delivery_id=delivery_id, finding=finding)

    draft = door.run(
        body,
        actor=actor,
        verb=Verb.RESOLVE,
        subject=Subject(draft_id=draft_id),
        key=key,
        name=lambda draft: f"draft:{draft.pk}",
    )
    ground.reopen_on(draft.target_id, clock=clock)
    return draft


def can_be_resolved(delivery: Delivery, draft: Draft) -> bool:
    """True where a person's word may settle it: unknown, held, or a retraction that was accepted but not proven.

    Never while an attempt is under way: its dispatch claim would be freed with a worker before its first byte.
    """
    if delivery.state == DeliveryState.SENDING:
        return False
    if delivery.state == DeliveryState.UNKNOWN or delivery.held_at is not None:
        return True
    return undoing.is_unproven(delivery, draft)


def insist_on_a_stranger_to_it(actor: Actor, draft: Draft) -> None:
    """Refuses whoever wrote any of the draft's revisions, or had them written: nobody vouches for their own."""
    if Exclusion.objects.filter(draft=draft, user_id=actor.person_id).exists():
        raise NotEligible(
            "You wrote this draft, or somebody wrote it for you, so another operator has to record what became of it.",
            reason="author",
        )


def _resolve(
    actor: Actor, clock: Clock, *, draft_id: int, target_id: int, delivery_id: UUID, finding: Finding
) -> Draft:
    locks.target(target_id)
    locks.dispatch_claim(target_id)
    draft = locks.draft(draft_id)
    delivery = locks.delivery(delivery_id)
    now = clock()
    require(actor, Verb.RESOLVE, draft=draft)
    insist_on_a_stranger_to_it(actor, draft)
    said, evidence, remote_id = _checked(finding)
    if not can_be_resolved(delivery, draft):
        raise WrongState("The outcome of this delivery is settled; there is nothing to record.", draft_id=draft.pk)
    if said == Said.NOT_DELIVERED:
        _insist_on_rest(delivery, draft, now)
    case = _Case(delivery, draft, delivery.attempts.order_by("-number").first())
    _keep(case, said, evidence, remote_id, actor=actor, now=now)
    settle = _undo_settled if outcomes.is_retraction(delivery) else _write_settled
    settle(case, said, remote_id, evidence=evidence, actor=actor, now=now)
    return draft


def _checked(finding: Finding) -> tuple[Said, str, str]:
    if finding.outcome not in list(Said):
        raise InvalidPayload("Say what you found: delivered or not_delivered.", pointer="/outcome")
    limit = words.TEXT_LIMIT
    evidence = words.checked(finding.evidence, pointer="/evidence", limit=limit, required=True)
    remote_id = words.checked(finding.remote_id or "", pointer="/remote_id", limit=512).strip()
    if remote_id and usable_id(remote_id) is None:
        raise InvalidPayload(
            "Give the object's id as the remote writes it: no control characters, not '.' or '..'.",
            pointer="/remote_id",
        )
    return Said(finding.outcome), evidence, remote_id


def _insist_on_rest(delivery: Delivery, draft: Draft, now: datetime) -> None:
    until = outcomes.horizon(delivery)
    if now < until:
        raise WrongState(
            f"It may still arrive until {audit.stamp(until)}: a stopped worker could wake and send. Look again then.",
            draft_id=draft.pk,
        )


def _keep(case: _Case, said: Said, evidence: str, remote_id: str, *, actor: Actor, now: datetime) -> None:
    Observation.objects.create(
        delivery=case.delivery,
        kind=Observation.Kind.RESOLUTION,
        attempt_number=case.delivery.attempt_count,
        answer=said.value,
        reason=evidence[:1000],
        evidence={"by": actor.label, "outcome": said.value, "evidence": evidence, "remote_id": remote_id},
        begun_at=now,
        recorded_at=now,
    )
    audit.of_draft(
        case.draft,
        actor=actor,
        action="delivery.resolved",
        now=now,
        reason=evidence[:1000],
        delivery_id=str(case.delivery.pk),
        outcome=said.value,
        remote_id=remote_id,
    )


def _write_settled(case: _Case, said: Said, remote_id: str, *, evidence: str, actor: Actor, now: datetime) -> None:
    delivery, draft = case.delivery, case.draft
    if said == Said.DELIVERED:
        outcomes.deliver(delivery, draft, remote_id=remote_id, reason=evidence, actor=actor, now=now)
    elif delivery.state == DeliveryState.UNKNOWN:
        assert case.attempt is not None  # only an attempt makes it unknown
        undoing.drop_hold(delivery)
        outcomes.to_refused(delivery, draft, case.attempt, reason=evidence, actor=actor, now=now)
    else:
        undoing.release_hold(delivery, draft, reason=evidence, actor=actor, now=now)
    _free(case, now)


def _undo_settled(case: _Case, said: Said, remote_id: str, *, evidence: str, actor: Actor, now: datetime) -> None:
    if said == Said.DELIVERED:
        undoing.gone(case.delivery, case.draft, case.attempt, reason=evidence, actor=actor, now=now)
        return
    assert case.attempt is not None  # what can be resolved was tried
    undoing.still_there(case.delivery, case.draft, case.attempt, reason=evidence, actor=actor, now=now)


def _free(case: _Case, now: datetime) -> None:
    if case.attempt is not None:
        claims.settle(case.delivery, case.attempt, known=True, now=now)
