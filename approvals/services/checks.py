"""One look at the remote: taken by one worker, recorded as an observation whatever it saw."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from random import SystemRandom
from typing import Any
from uuid import UUID

from django.conf import settings

from approvals.connectors.base import Job
from approvals.domain import retry
from approvals.domain.actor import Actor
from approvals.domain.states import DeliveryState
from approvals.models import Approval, Delivery, Observation
from approvals.permissions import Verb, require
from approvals.services import corrections, door, locks, opening, outcomes
from approvals.services.door import Clock

LOOKS_BEFORE_A_PERSON = 12
"""Looks in a row without an answer before a delivery waits for a person: with the back-off about six hours."""
_random = SystemRandom()


class Question(StrEnum):
    """What a look is to find out."""

    ARRIVED = "arrived"  # is the object of an unknown or held write there?
    EQUAL = "equal"  # does a delivered write read as it was approved?
    GONE = "gone"  # is the object of a retraction gone?


@dataclass(frozen=True, slots=True)
class Check:
    """What to ask the remote, when the asking began, and the attempt it speaks about."""

    delivery_id: UUID
    draft_id: int
    attempt_number: int
    begun_at: datetime
    question: Question
    job: Job


def begin_check(*, actor: Actor, clock: Clock, delivery_id: UUID) -> Check | None:
    """Takes a due check for this worker; None if it is taken, settled, not due, or asks for nothing any more."""

    def body() -> Check | None:
        require(actor, Verb.WORK)
        delivery = locks.delivery(delivery_id)
        now = clock()
        if delivery.next_check_at is None or delivery.next_check_at > now:
            return None
        question = question_of(delivery)
        idle = question == Question.EQUAL and corrections.corrected_by(delivery.draft) is not None
        delivery.next_check_at = None if idle else now + timedelta(seconds=settings.REVIEWROOM_LEASE_SECONDS)
        delivery.save_move("next_check_at")
        return None if idle else _check(delivery, question, now)

    return door.run(body, actor=actor, verb=Verb.WORK)


def question_of(delivery: Delivery) -> Question:
    if outcomes.is_retraction(delivery):
        return Question.GONE
    return Question.EQUAL if delivery.state == DeliveryState.DELIVERED else Question.ARRIVED


def observe(
    delivery: Delivery, check: Check, kind: Observation.Kind, answer: str, reason: str, evidence: Any, now: datetime
) -> None:
    """Keeps what was seen. Inside a door."""
    Observation.objects.create(
        delivery=delivery,
        kind=kind,
        attempt_number=check.attempt_number,
        answer=answer,
        reason=reason[:1000],
        evidence=evidence,
        begun_at=check.begun_at,
        recorded_at=now,
    )


def look_later(delivery: Delivery, now: datetime) -> bool:
    """Counts a look that could not tell and plans the next, ever later; False if from now on a person is waited for."""
    delivery.check_count += 1
    if delivery.check_count >= LOOKS_BEFORE_A_PERSON:
        delivery.next_check_at = None
        return False
    wait = retry.backoff(delivery.check_count, jitter=_random.random())
    delivery.next_check_at = now + timedelta(seconds=wait)
    return True


def _check(delivery: Delivery, question: Question, now: datetime) -> Check:
    draft = delivery.draft
    approval = Approval.objects.select_related("revision").get(pk=delivery.approval_id)
    write = corrections.write_of(draft) if question == Question.GONE else delivery
    assert write is not None  # a retraction has one
    undoing = delivery.pk if question == Question.GONE else None
    return Check(
        delivery_id=delivery.pk,
        draft_id=draft.pk,
        attempt_number=delivery.attempt_count,
        begun_at=now,
        question=question,
        job=opening.job(approval, write, prepared={}, retraction_id=undoing),
    )
