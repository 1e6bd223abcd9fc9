"""A step of the model, and how it touches the other draft.

A step belongs to one draft. What it needs of the other, and what it does to it, is said beside it, so that the steps
of a record are worked out once, whatever the other draft is doing.
"""

from typing import NamedTuple

from tests.model.record import A, C, Record, W

ANYTHING, ONE_IDLE, BOTH_IDLE, ANOTHER_THERE, NONE_THERE, UNDER_WAY, NOT_UNDER_WAY = (1 << bit for bit in range(7))
"""Needs of the other draft: none; its claim free and one worker idle, or both; its write there or not; an attempt of it
under way or in doubt, or none."""

NOTHING, TAKEN, GREW, GREW_BY_WRITE, BEGAN, PLACED, REMOVED = range(7)
"""Effects on the other draft: its reservation is taken over; the target's version grew, by a write or by an undoing; an
attempt began; at the remote something was put, or something removed."""

REPLACED_LATER = "an earlier write never replaces a later one"
REMOVED_ANOTHERS = "a retraction never removes another draft's write"


class Move(NamedTuple):
    """One step: its name, the record after it, and the other draft's part in it."""

    step: tuple[str, ...]
    record: Record
    needs: int = ANYTHING
    effect: int = NOTHING


def offers(record: Record) -> int:
    """Gives the needs of the other draft's steps that this record meets.

    A worker whose reservation is past its lease can do nothing more with it, so it counts as idle.
    """
    met = ANYTHING | (ANOTHER_THERE if record.there else NONE_THERE)
    met |= UNDER_WAY if record.claim in (C.SENDING, C.UNCERTAIN) else NOT_UNDER_WAY
    if record.is_free:
        met |= ONE_IDLE if len(record.workers) <= 1 else 0
        met |= BOTH_IDLE if not record.workers else 0
    return met


def suffers(record: Record, effect: int) -> Record:
    """Gives what a step of the other draft makes of this one."""
    if effect == TAKEN and record.claim == C.RESERVED:
        return record._replace(claim=C.IDLE)
    if effect == BEGAN:
        return record._replace(began_last=False)
    if effect in (GREW, GREW_BY_WRITE):
        newer = record.newer or (effect == GREW_BY_WRITE and record.write == W.DELIVERED)
        return record._replace(stale=record.stale or is_covered(record), newer=newer)
    if effect in (PLACED, REMOVED) and record.there:
        return record._replace(there=False, wrong=_loss(record, effect))
    return record


def is_covered(record: Record) -> bool:
    """True while an approval still has something to cover: it is live, or consumed by a write not delivered yet."""
    return record.is_live or (record.approval == A.CONSUMED and record.write != W.DELIVERED)


def _loss(record: Record, effect: int) -> str:
    if effect == REMOVED:
        return REMOVED_ANOTHERS
    return REPLACED_LATER if record.began_last else ""
