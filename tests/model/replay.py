"""Paths of the model taken by the real services: after every step both must stand in the same states.

The model's clocks belong to a draft, the services have one for all. So a step of time moves the one clock as far as
that step needs, and whatever else has run out by then passes in the model too.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from approvals.connectors.base import Lookup, Receipt, Verification
from approvals.domain.combinations import NONE
from approvals.domain.errors import Refusal
from approvals.domain.gate import GateAnswer, Verdict
from approvals.models import Attempt, Delivery, DispatchClaim, Draft, Observation
from approvals.selectors import whole
from approvals.services import (
    cancel,
    checks,
    decide,
    expire,
    give_up,
    ground,
    holding,
    look_again,
    outcomes,
    reconcile,
    record,
    resolve,
    retract,
    retry,
    revise,
    revoke,
    undoing,
)
from approvals.services.checks import Check
from approvals.services.opening import Begun
from tests.cast import Story
from tests.model.moves import moves
from tests.model.record import ENDED, LIVE, ONCE, UNDO, WRITE, C, Record, World, combination, tidy
from tests.model.steps import Move, offers, suffers
from tests.support import remote as said
from tests.workers.beats import go, hand_in

RECEIPTS: dict[str, Receipt] = {
    "delivered": said.DELIVERED,
    "refused": said.REFUSED,
    "not_sent": said.NOT_SENT,
    "unknown": said.UNKNOWN,
}
SIGHTS: dict[str, Lookup | Verification] = {
    "found": said.FOUND,
    "absent": said.ABSENT,
    "absent again": said.ABSENT,
    "gone": said.GONE,
    "still": said.EQUAL,
    "another": said.DIFFERS,
}
SELDOM = {"edit", "withdraw", "rework", "revoke", "reject", "request_changes", "take_back", "crash", "let_go"}
OFTEN = {"submit", "approve", "reserve", "begin", "resume", "begin_retract", "send", "retry", "retract", "sweep"}


class OffPathError(AssertionError):
    """Model and services stand in different states, or one of them refused what the other did."""


@dataclass
class Helper:
    """A worker that is somewhere between its gate and the end of its work."""

    phase: str
    kind: str
    begun: Begun | None = None
    hold: holding.Hold | None = None
    answer: GateAnswer | None = None


@dataclass
class Player:
    """One draft on both sides."""

    draft_id: int
    record: Record = field(default_factory=Record)
    hold: holding.Hold | None = None
    helpers: list[Helper] = field(default_factory=list)
    look: tuple[Check, str] | None = None

    @property
    def draft(self) -> Draft:
        return Draft.objects.select_related("approval", "target", "channel").get(pk=self.draft_id)

    def delivery(self, kind: str) -> Delivery | None:
        of_kind = Delivery.objects.filter(draft_id=self.draft_id, kind="write" if kind == WRITE else "retract")
        return of_kind.order_by("created_at").last()

    @property
    def open(self) -> Delivery:
        found = self.delivery(self.record.open_kind)
        assert found is not None
        return found


class Replay:
    """Walks one random path; `lines` tells it."""

    def __init__(self, story: Story, world: World, *, channel: str, resource: str, seed: int) -> None:
        self.story, self.world = story, world
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.count = 0
        self.players = tuple(
            Player(
                story.propose(
                    submit=False, channel=channel, operation="thing.put", resource=resource, payload={"text": name}
                ).pk
            )
            for name in "AB"
        )
        self.target_id = self.players[0].draft.target_id

    def walk(self, length: int) -> None:
        """Takes up to `length` steps, and tries beside them what the model refuses."""
        if self.random.randrange(3):  # most paths begin where sending may
            for who in (0, 1):
                self.take(who, ("submit",))
                self.take(who, ("approve",))
        for _ in range(length):
            if not self.random.randrange(4):
                self._try_a_refused_verb()
            enabled = list(self.enabled())
            if not enabled:
                return
            who, move = self.random.choices(enabled, [_weight(move) for _, move in enabled])[0]
            self.take(who, move.step)

    def enabled(self) -> Iterator[tuple[int, Move]]:
        for who in (0, 1):
            mine, other = self.players[who].record, self.players[1 - who].record
            met = offers(other)
            for move in moves(mine, self.world):
                after = tidy(move.record, self.world)
                if move.needs & met and (after != mine or move.effect):
                    yield who, move

    def take(self, who: int, step: tuple[str, ...]) -> None:
        """Takes one step on both sides, unless waiting for it changed what is possible."""
        player = self.players[who]
        self.story.clock.advance(milliseconds=1)  # no two things happen at once, so that their order is the same again
        if step[0] == "reserve":
            self._reserve(who)
        elif self._ready(player, step) and self._allows(who, step):
            self.lines.append(f"{'AB'[who]} {' '.join(step)}")
            self._act(player, step)
            self._follow(who, step)
            if step[0] == "resolve":
                self._follow_reopened()
        self._compare()

    def _follow_reopened(self) -> None:
        """After a person's word the service itself sends back to review what stood on the older target."""
        for who in (0, 1):
            if self._allows(who, ("reopen",)):
                self._follow(who, ("reopen",))

    # Time

    def _ready(self, player: Player, step: tuple[str, ...]) -> bool:
        """Moves the clock to where this step is due."""
        until = self._due(player, step)
        if until is None:
            return False
        self._advance_to(until, player if step[0].endswith("_passes") else None, step)
        return True

    def _due(self, player: Player, step: tuple[str, ...]) -> datetime | None:
        now = self.story.clock.now
        if step[0] == "approval_time_passes":
            return self.story.approval(player.draft).expires_at
        if step[0] == "reservation_time_passes":
            return DispatchClaim.objects.get(target_id=self.target_id).lease_until
        if step[0] == "lease_time_passes":
            return self._attempt(player).lease_until
        if step[0] == "grace_passes":
            return self._grace_end(player)
        if step[0] in ("look", "look_and_hand_in", "confirm"):
            due = player.open.next_check_at
            if due is None:
                raise OffPathError(f"nobody will look, and the model says somebody may see {step}")
            return max(due, now)
        return now

    def _attempt(self, player: Player) -> Attempt:
        """The newest attempt of what is open; of a retraction not tried yet, the write's."""
        found = player.open.attempts.order_by("-number").first()
        write = player.delivery(WRITE)
        assert write is not None
        return found or write.attempts.order_by("-number")[0]

    def _grace_end(self, player: Player) -> datetime:
        ends = [outcomes.horizon(player.open), outcomes.in_flight_until(self._attempt(player))]
        if player.record.absent == ONCE:
            ends.append(self._absence(player) + timedelta(seconds=settings.REVIEWROOM_ABSENT_GRACE_SECONDS))
        return max(ends)

    def _absence(self, player: Player) -> datetime:
        attempt = self._attempt(player)
        seen = Observation.objects.filter(
            delivery=player.open, answer="absent", attempt_number=attempt.number, begun_at__gte=attempt.lease_until
        )
        return seen.order_by("id")[0].recorded_at

    def _advance_to(self, moment: datetime, player: Player | None, step: tuple[str, ...]) -> None:
        """Moves the clock; what has run out by then passes in the model, but for the step that is taken anyway."""
        self.story.clock.now = max(self.story.clock.now, moment)
        for who, other in enumerate(self.players):
            for name in self._run_out(other):
                if other is player and name == step[0]:
                    break  # the step itself, which is taken next
                self._follow(who, (name,))

    def _run_out(self, player: Player) -> Iterator[str]:
        """Gives the steps of time that the clock has made true and the model has not taken yet."""
        now = self.story.clock.now
        if self._may_pass(player, "approval_time_passes") and now >= self.story.approval(player.draft).expires_at:
            yield "approval_time_passes"
        lease = DispatchClaim.objects.get(target_id=self.target_id).lease_until
        if self._may_pass(player, "reservation_time_passes") and lease is not None and now >= lease:
            yield "reservation_time_passes"
        if self._may_pass(player, "lease_time_passes") and now >= self._attempt(player).lease_until:
            yield "lease_time_passes"
        if self._may_pass(player, "grace_passes") and now >= self._grace_end(player):
            yield "grace_passes"

    def _may_pass(self, player: Player, name: str) -> bool:
        return any(move.step == (name,) for move in moves(player.record, self.world))

    # The model's side

    def _allows(self, who: int, step: tuple[str, ...]) -> bool:
        return any(side == who and move.step == step for side, move in self.enabled())

    def _follow(self, who: int, step: tuple[str, ...]) -> None:
        for side, move in self.enabled():
            if side == who and move.step == step:
                other = self.players[1 - who]
                self.players[who].record = tidy(move.record, self.world)
                other.record = tidy(suffers(other.record, move.effect), self.world)
                return
        raise OffPathError(f"the model has no step {step} for {'AB'[who]} here")

    def _compare(self) -> None:
        claims = whole._claims_by_draft()
        for player in self.players:
            draft = Draft.objects.select_related("approval", "channel").prefetch_related("deliveries")
            found = whole._combination(draft.get(pk=player.draft_id), claims.get(player.draft_id, C.IDLE))
            wanted = combination(player.record, exclusive=self.world.exclusive)
            if found != wanted:
                raise OffPathError(f"the services say {found}, the model says {wanted}")
            is_held = Delivery.objects.filter(draft_id=player.draft_id).exclude(held_at=None).exists()
            if is_held != player.record.held:
                raise OffPathError(f"held: the services say {is_held}, the model says {player.record.held}")

    # The services' side

    def _act(self, player: Player, step: tuple[str, ...]) -> None:
        verb, *rest = step
        method: Callable[..., None] | None = getattr(self, f"_do_{verb}", None)
        if method is not None:
            method(player, *rest)

    def _by(self, name: str) -> dict[str, Any]:
        return {"actor": self.story.actor(name), "clock": self.story.clock}

    @property
    def _worker(self) -> dict[str, Any]:
        return {"actor": self.story.worker, "clock": self.story.clock}

    def _do_submit(self, player: Player) -> None:
        revise.submit(**self._by("ada"), draft_id=player.draft_id)

    def _do_edit(self, player: Player, *, submit: bool = True) -> None:
        self.count += 1
        changes = revise.Changes(payload={"text": f"Edit {self.count} of {player.draft_id}"})
        revise.revise(
            **self._by("ada"),
            draft_id=player.draft_id,
            version=player.draft.version,
            changes=changes,
            submit=submit,
        )

    def _do_rework(self, player: Player) -> None:
        self._do_edit(player, submit=False)

    def _do_withdraw(self, player: Player) -> None:
        revoke.withdraw(**self._by("ada"), draft_id=player.draft_id, reason="No longer.")

    def _do_approve(self, player: Player) -> None:
        self.story.decide(player.draft, "ben")
        self.story.decide(player.draft, "cleo")

    def _do_reject(self, player: Player) -> None:
        self.story.decide(player.draft, "ben", Verdict.REJECT)

    def _do_request_changes(self, player: Player) -> None:
        self.story.decide(player.draft, "ben", Verdict.REQUEST_CHANGES)

    def _do_take_back(self, player: Player) -> None:
        decide.take_back(**self._by("ben"), approval_id=player.draft.approval_id)

    def _do_revoke(self, player: Player) -> None:
        revoke.revoke(**self._by("ben"), approval_id=player.draft.approval_id, reason="No.")

    def _do_reopen(self, player: Player) -> None:
        ground.reopen_if_moved(approval_id=player.draft.approval_id, clock=self.story.clock)

    def _do_expire(self, player: Player) -> None:
        expire.expire(approval_id=player.draft.approval_id, clock=self.story.clock)

    def _do_retract(self, player: Player) -> None:
        retract.retract(**self._by("ben"), draft_id=player.draft_id, reason="Wrong shop.")

    def _do_retry(self, player: Player) -> None:
        retry.retry(**self._by("max"), draft_id=player.draft_id)

    def _do_cancel(self, player: Player) -> None:
        cancel.cancel(**self._by("max"), draft_id=player.draft_id, reason="Enough.")

    def _do_look_again(self, player: Player) -> None:
        look_again.look_again(**self._by("max"), draft_id=player.draft_id)

    def _do_resolve(self, player: Player, outcome: str) -> None:
        finding = resolve.Finding(outcome=outcome, evidence="Seen there.", remote_id="issue42")
        resolve.resolve(**self._by("max"), delivery_id=player.open.pk, finding=finding)

    def _reserve(self, who: int) -> None:
        """Has the services choose whose turn it is; the model must allow that one."""
        due = [self._next_attempt(player) for player in self.players]
        self._advance_to(due[who] or self.story.clock.now, None, ())
        if not self._allows(who, ("reserve",)):
            return
        hold = holding.reserve(**self._worker, target_id=self.target_id, owner="worker")
        if hold is None:
            raise OffPathError(f"nothing was reserved, and the model would have {'AB'[who]}")
        chosen = next(index for index, player in enumerate(self.players) if player.draft_id == hold.draft_id)
        self.lines.append(f"{'AB'[chosen]} reserve")
        self.players[1 - chosen].hold = None
        self.players[chosen].hold = hold
        self._follow(chosen, ("reserve",))

    def _next_attempt(self, player: Player) -> datetime | None:
        draft = player.draft
        if player.record.write == NONE:
            return draft.approval.dispatch_at if draft.approval else None
        return player.open.next_attempt_at

    def _do_let_go(self, player: Player) -> None:
        hold, player.hold = player.hold, None
        if not holding.release(**self._worker, hold=hold, reason="Nothing."):
            raise OffPathError("the target was not let go")

    def _do_begin(self, player: Player) -> None:
        self._pass_gate(player, WRITE)

    _do_resume = _do_begin

    def _do_begin_retract(self, player: Player) -> None:
        self._pass_gate(player, UNDO)

    def _pass_gate(self, player: Player, kind: str) -> None:
        hold, player.hold = player.hold, None
        answer = go(self.story, hold)
        if not isinstance(answer, Begun):
            raise OffPathError(f"the gate said no: {answer.sentence}")
        player.helpers.append(Helper("begun", kind, begun=answer))

    def _do_refuse(self, player: Player, kind: str) -> None:
        hold, player.hold = player.hold, None
        answer = go(self.story, hold)
        if not isinstance(answer, GateAnswer):
            raise OffPathError("the gate said yes")
        holding.release(**self._worker, hold=hold, reason=answer.sentence)
        player.helpers.append(Helper("ending", kind, hold=hold, answer=answer))

    def _do_cancel_after_no(self, player: Player, kind: str) -> None:
        helper = self._helper(player, "ending", kind)
        player.helpers.remove(helper)
        give_up._follow(**self._worker, hold=helper.hold, answer=helper.answer)

    def _do_crash(self, player: Player, phase: str, kind: str = "", which: str = "") -> None:
        if phase == "reserved":
            player.hold = None
        else:
            player.helpers.remove(self._helper(player, phase, kind, which))

    def _do_record(self, player: Player, outcome: str, phase: str, kind: str, which: str) -> None:
        helper = self._helper(player, phase, kind, which)
        player.helpers.remove(helper)
        hand_in(self.story, helper.begun, RECEIPTS[outcome])

    def _do_sweep(self, player: Player) -> None:
        if not record.lose(**self._worker, target_id=self.target_id):
            raise OffPathError("nothing was lost")

    def _turn(self, phase: str) -> Callable[[Player, str, str, str], None]:
        def turned(player: Player, was: str, kind: str, which: str) -> None:
            self._helper(player, was, kind, which).phase = phase

        return turned

    @property
    def _do_look_at_clock(self) -> Callable[..., None]:
        return self._turn("armed")

    @property
    def _do_send(self) -> Callable[..., None]:
        return self._turn("asked")

    @property
    def _do_act(self) -> Callable[..., None]:
        return self._turn("acted")

    @property
    def _do_miss(self) -> Callable[..., None]:
        return self._turn("missed")

    @property
    def _do_shrug(self) -> Callable[..., None]:
        return self._turn("shrugged")

    def _helper(self, player: Player, phase: str, kind: str, which: str = "newest") -> Helper:
        """Finds the worker that the model means; where two are alike in the model, either will do."""
        alike = [item for item in player.helpers if item.phase == phase and (item.kind == WRITE) == (kind == WRITE)]
        if phase != "ending":
            alike.sort(key=lambda item: item.begun.attempt_id, reverse=which == "newest" and kind != "undone")
        return alike[0]

    def _do_look(self, player: Player, seen: str) -> None:
        player.look = (self._check(player), seen)

    def _do_hand_in(self, player: Player, seen: str) -> None:
        look, player.look = player.look, None
        self._hand_in(*look)

    def _do_look_and_hand_in(self, player: Player, seen: str) -> None:
        self._hand_in(self._check(player), seen)

    def _do_confirm(self, player: Player) -> None:
        check = self._check(player)
        reconcile.record_verification(**self._worker, check=check, seen=said.EQUAL)

    def _check(self, player: Player) -> Check:
        check = checks.begin_check(**self._worker, delivery_id=player.open.pk)
        if check is None:
            raise OffPathError("nobody looks")
        return check

    def _hand_in(self, check: Check, seen: str) -> None:
        answer = SIGHTS[seen.removeprefix("old ")]
        if isinstance(answer, Lookup):
            reconcile.record_lookup(**self._worker, check=check, found=answer)
        else:
            undoing.record_read_back(**self._worker, check=check, seen=answer)

    # What the model refuses

    def _try_a_refused_verb(self) -> None:
        who = self.random.randrange(2)
        player = self.players[who]
        verb = self.random.choice(REFUSABLE)
        if self._allows(who, verb) or not self._is_askable(player, verb):
            return
        self.lines.append(f"{'AB'[who]} tries {' '.join(verb)}")
        with suppress(Refusal):
            self._act(player, verb)
        self._compare()

    def _is_askable(self, player: Player, verb: tuple[str, ...]) -> bool:
        """Leaves out what is refused with a remedy (expired or moved), and words about the past that are not exact."""
        record = player.record
        if record.is_live and (record.expired or record.stale):
            return False
        if verb[0] == "resolve":
            return record.write != NONE and (record.age == LIVE or record.undo == NONE)
        if verb[0] in ("take_back", "revoke"):
            return record.approval != NONE
        if verb[0] in ("approve", "reject"):
            return record.approval != NONE and record.age != ENDED
        return True


REFUSABLE = (
    ("submit",),
    ("approve",),
    ("reject",),
    ("take_back",),
    ("revoke",),
    ("withdraw",),
    ("retract",),
    ("retry",),
    ("cancel",),
    ("resolve", "delivered"),
    ("resolve", "not_delivered"),
)


def _weight(move: Move) -> float:
    verb = move.step[0]
    if verb in SELDOM or verb == "approval_time_passes":
        return 0.3
    return 3.0 if verb in OFTEN else 1.0
