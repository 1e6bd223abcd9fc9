"""One draft of the model, with everything that belongs to it: four machines, clocks, workers, the remote.

A record holds no counters and no times, only what the guards can tell apart; so the number of edits, reservations,
attempts and retractions is not bounded, and yet there are finitely many records.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

from approvals.domain.combinations import NONE, Combination
from approvals.domain.states import (
    APPROVAL,
    DELIVERY,
    DISPATCH_CLAIM,
    DRAFT,
    LIVE_APPROVAL,
    ApprovalState,
    ClaimState,
    DeliveryState,
    DraftState,
    Machine,
)

A, W, C, T = ApprovalState, DeliveryState, ClaimState, DraftState

WRITE, UNDO = "write", "undo"
UNDONE = "undone"  # the kind of a worker's attempt at a retraction that another one followed
MOST_REQUESTS = 2  # of one draft in the network at once; the only count that is bounded

LIVE, ENDED, SURE = 0, 1, 2
"""Ages of the newest attempt: its lease is live; ended; and the grace after it has passed as well."""

NEVER, ONCE, LONG_AGO, SETTLED = 0, 1, 2, 3
"""Absences seen: none; one; one, a grace ago; enough, and from now on only a person goes on."""

FIRST, AGAIN, VOID = "first", "again", "void"
"""What a reservation is for: a first send, a later one (or a retraction), or an approval that has ended since."""


class Worker(NamedTuple):
    """A worker between its gate and the end of its work, and which attempt it is at."""

    phase: str
    kind: str
    newest: bool = True


BEGUN = "begun"  # through the gate, before its look at the clock
ARMED = "armed"  # has looked at the clock, before its first byte
ASKED = "asked"  # the request is out, and nobody knows where
ACTED = "acted"  # the remote did it; the answer may be lost
SHRUGGED = "shrugged"  # the remote said it did, and did nothing
MISSED = "missed"  # the remote did nothing; it may have said so
ENDING = "ending"  # its gate said no, the target is let go, the delivery is about to be cancelled


class Record(NamedTuple):
    """A draft, its newest approval, its write, its newest retraction, and its target's claim as far as it serves it."""

    draft: str = T.DRAFT
    approval: str = NONE
    write: str = NONE
    undo: str = NONE
    stale: bool = False  # the gate would say no: the target moved on since the approval was opened
    expired: bool = False
    held: bool = False  # late evidence
    unsure: bool = False  # an attempt before the newest may have arrived
    age: int = LIVE
    absent: int = NEVER
    look: str = ""  # what somebody saw at the remote and has not recorded yet
    claim: str = C.IDLE
    purpose: str = ""
    over: bool = False  # the reservation's lease ended
    orphaned: bool = False  # the reservation's worker died
    workers: tuple[Worker, ...] = ()
    late_writes: int = 0  # requests in the network whose worker does not wait for them any more
    late_undos: int = 0
    written: int = 0  # effective writes at the remote; two are a duplicate
    there: bool = False  # what was written stands at the remote
    began_last: bool = False  # on an exclusive target: nobody has begun a write or a retraction since
    newer: bool = False  # on an exclusive target: another write was delivered since this one
    wrong: str = ""  # a promise that was broken on the way here

    @property
    def is_live(self) -> bool:
        return self.approval in LIVE_APPROVAL

    @property
    def is_free(self) -> bool:
        """True if the target, as far as this draft has it, may be reserved: idle, or past the reservation's lease."""
        return self.claim == C.IDLE or (self.claim == C.RESERVED and self.over)

    @property
    def in_flight(self) -> int:
        return self.late_writes + self.late_undos + sum(worker.phase == ASKED for worker in self.workers)

    @property
    def open_kind(self) -> str:
        """The delivery that is not settled yet: the write until it is delivered, then the retraction."""
        return UNDO if self.undo != NONE else WRITE


@dataclass(frozen=True)
class World:
    """What kind of channel, remote, clock and people a run is about; `broken` names guards that are left out."""

    exclusive: bool = False
    remote: str = "plain"  # plain: every request acts; dedupe: one per delivery; upsert: the newest stands
    readable: bool = True
    timely: bool = True  # the absent grace outlasts every pause of a worker and every request in the network
    honest: bool = True  # a person records only what is so
    retracts: bool = True
    drafts: int = 2
    broken: frozenset[str] = frozenset()

    @property
    def idempotent(self) -> bool:
        return self.remote != "plain"

    @property
    def resends(self) -> bool:
        """True where an unknown write is sent again by itself."""
        return self.idempotent and not self.readable and not self.exclusive

    def lacks(self, guard: str) -> bool:
        """True in a world that was broken on purpose, to see that a property notices."""
        return guard in self.broken

    def without(self, guard: str) -> "World":
        return replace(self, broken=self.broken | {guard})

    def __str__(self) -> str:
        words = (
            "exclusive" if self.exclusive else "append",
            self.remote,
            "readable" if self.readable else "unreadable",
            "timely" if self.timely else "untimely",
            "honest" if self.honest else "careless",
            "with retraction" if self.retracts else "without retraction",
            f"{self.drafts} draft{'s' * (self.drafts > 1)}",
        )
        return " ".join(words)


class IllegalMoveError(Exception):
    """The model made a move that is not in the tables."""


def go(machine: Machine, state: str, verb: str) -> str:
    """Gives where `verb` leads from `state`, by the tables of the product."""
    edge = machine.edge(verb)
    if state not in edge.sources:
        raise IllegalMoveError(f"{machine.name} cannot {verb} from {state}")
    return edge.target


def draft_goes(record: Record, verb: str) -> str:
    return go(DRAFT, record.draft, verb)


def approval_goes(record: Record, verb: str) -> str:
    return go(APPROVAL, record.approval, verb)


def delivery_goes(record: Record, kind: str, verb: str) -> str:
    return go(DELIVERY, getattr(record, kind), verb)


def claim_goes(record: Record, verb: str) -> str:
    return go(DISPATCH_CLAIM, record.claim, verb)


def combination(record: Record, *, exclusive: bool) -> Combination:
    return Combination(record.draft, record.approval, record.write, record.undo, record.claim, exclusive)


def tidy(record: Record, world: World) -> Record:
    """Forgets what no guard will ever ask again, so that states that behave alike are one."""
    changes: dict[str, object] = {"workers": tuple(sorted(record.workers))}
    covers = record.is_live or (record.approval == A.CONSUMED and record.write != W.DELIVERED)
    if not covers:
        changes |= {"stale": False, "expired": False}
    if record.claim != C.RESERVED:
        changes |= {"purpose": "", "over": False, "orphaned": False}
    if not world.exclusive:
        changes |= {"began_last": False, "newer": False}
    return record._replace(**changes, **_evidence_kept(record))


def _evidence_kept(record: Record) -> dict[str, object]:
    """What was seen, and how old the newest attempt is, matter only while something is open."""
    state = getattr(record, record.open_kind)
    may_start = any(worker.phase in (BEGUN, ARMED) and worker.newest for worker in record.workers)
    is_over = record.draft == T.RETRACTED or (record.write == W.DELIVERED and record.undo == NONE)
    is_still = state in (W.WAITING, W.REFUSED, W.CANCELLED) and not record.held
    kept: dict[str, object] = {}
    if record.write == W.DELIVERED or state in (W.WAITING, W.REFUSED, W.CANCELLED):
        kept["absent"] = NEVER
    if is_over:
        kept |= {"unsure": False, "held": False}
    if is_over or (record.write != W.UNKNOWN and record.look.startswith("absent")):
        kept["look"] = ""
    if (is_over or is_still) and not may_start:
        kept["age"] = LIVE
    return kept
