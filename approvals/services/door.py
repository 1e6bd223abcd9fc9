"""The door every verb goes through: one durable transaction, retries, the Idempotency-Key, refusals recorded.

Body first, then (only on a refusal) the remedy and the record, each in a transaction of its own: what is written
inside a transaction that is then rolled back is lost.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from django.db import OperationalError, connection, transaction

from approvals.domain.actor import Actor
from approvals.domain.errors import LostRace, Refusal, Unavailable
from approvals.models.clock import database_now
from approvals.permissions import Verb
from approvals.services import audit, idempotency
from approvals.services.idempotency import Key

__all__ = ["Clock", "Key", "database_now", "run"]

T = TypeVar("T")
Clock = Callable[[], datetime]

RETRIES = 3
RETRYABLE_SQLSTATES = ("40001", "40P01")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a refusal is about, as far as the caller named it."""

    draft_id: int | None = None
    room_id: int | None = None


NOTHING = Subject()


def run(
    body: Callable[[], T],
    *,
    actor: Actor,
    verb: Verb,
    subject: Subject = NOTHING,
    key: Key | None = None,
    name: Callable[[T], str] | None = None,
) -> T:
    """Runs `body` in one durable transaction and gives what it gives.

    `key` with `name` (how to write the result down: `draft:12`) makes the call idempotent. Raises Refusal; a
    replayed key raises `idempotency.Replay`.
    """
    try:
        return _with_retries(lambda: _keyed(body, key, name))
    except Refusal as refusal:
        refusal.draft_id = refusal.draft_id or subject.draft_id
        if refusal.remedy is not None:
            _remedy(refusal)
        about = subject.draft_id or (None if subject.room_id else refusal.draft_id)  # a rival's history is its own
        audit.record_refusal(actor=actor, verb=verb.value, refusal=refusal, draft_id=about, room_id=subject.room_id)
        raise


def in_transaction() -> None:
    """Stops a body that was called outside of a door: a programming error, never a user's."""
    if not connection.in_atomic_block:
        raise RuntimeError("this must run inside a transaction")


def _keyed(body: Callable[[], T], key: Key | None, name: Callable[[T], str] | None) -> T:
    if key is None or name is None:
        return body()
    stored = idempotency.take(key, now=database_now())
    result = body()
    idempotency.fill(stored, subject=name(result))
    return result


def _with_retries(body: Callable[[], T]) -> T:
    for tries_left in reversed(range(RETRIES + 1)):
        try:
            with transaction.atomic(durable=True):
                return body()
        except (LostRace, OperationalError) as error:
            if not _is_retryable(error):
                raise
            if not tries_left:
                raise Unavailable("Too many others changed this at the same moment. Try again.") from error
            time.sleep(0.02 * (RETRIES - tries_left))
    raise AssertionError("unreachable")


def _is_retryable(error: Exception) -> bool:
    if isinstance(error, LostRace):
        return True
    return getattr(error.__cause__, "sqlstate", None) in RETRYABLE_SQLSTATES


def _remedy(refusal: Refusal) -> None:
    """Runs what the refusal calls for (expire, reopen). Its own refusal only means that somebody was faster."""
    assert refusal.remedy is not None
    try:
        refusal.remedy()
    except Refusal as second:
        log.info("the remedy of %s was refused: %s", refusal.code, second)
