"""A draft as one person stands to it: what they are here, what they may do, whether they are barred."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from approvals.domain.actor import Actor
from approvals.domain.gate import Standing, Tally, Verdict, count
from approvals.domain.states import ApprovalState, DraftState
from approvals.models import Approval, Decision, Delivery, Draft, Exclusion, Revision, User
from approvals.permissions import RULES, Verb, Who, relations
from approvals.selectors.counting import newest_decisions, standings
from approvals.services import corrections, retry
from approvals.web.cards import truth
from approvals.web.cards.truth import Truth


@dataclass
class Reader:
    """Reads each thing once. `draft` comes from `reads.draft_for`, so this person may see it."""

    actor: Actor
    user: User
    draft: Draft
    now: datetime

    @cached_property
    def relations(self) -> frozenset[Who]:
        return relations(self.actor, room_id=self.draft.room_id, draft=self.draft)

    def may(self, verb: Verb) -> bool:
        rule = RULES[verb]
        return bool(self.relations & rule.who) and not (rule.people_only and self.user.is_agent)

    @property
    def approval(self) -> Approval | None:
        return self.draft.approval

    @cached_property
    def revision(self) -> Revision:
        return self.draft.revisions.select_related("author", "acts_for").get(number=self.draft.version)

    @cached_property
    def decisions(self) -> list[Decision]:
        rows = Decision.objects.filter(approval__draft=self.draft).select_related("reviewer", "approval")
        return list(rows.order_by("id"))

    @cached_property
    def excluded(self) -> dict[int, str]:
        """Gives everybody who may never decide on this draft, by id and name."""
        rows = Exclusion.objects.filter(draft=self.draft).order_by("user__username")
        return dict(rows.values_list("user_id", "user__username"))

    @cached_property
    def newest(self) -> dict[int, Decision]:
        return newest_decisions(self.approval) if self.approval else {}

    @cached_property
    def standings(self) -> dict[int, Standing]:
        return standings(self.draft.room_id, self.draft.pk, {*self.newest, self.user.pk})

    @cached_property
    def tally(self) -> Tally:
        verdicts = {user_id: Verdict(decision.verdict) for user_id, decision in self.newest.items()}
        if self.approval is None:
            return Tally(frozenset(), frozenset(), frozenset(), {})
        return count(verdicts, self.standings, self.approval.rules)

    @cached_property
    def deliveries(self) -> list[Delivery]:
        """Gives the write and its undoings, newest last, with everything that was tried and seen."""
        rows = Delivery.objects.filter(draft=self.draft).prefetch_related("attempts", "observations")
        return sorted(rows, key=lambda row: (row.kind != Delivery.Kind.WRITE, row.created_at))

    @property
    def write(self) -> Delivery | None:
        return next((row for row in self.deliveries if row.kind == Delivery.Kind.WRITE), None)

    @property
    def retraction(self) -> Delivery | None:
        """Gives the newest undoing; earlier ones are history."""
        return next((row for row in reversed(self.deliveries) if row.kind == Delivery.Kind.RETRACT), None)

    @cached_property
    def corrected_by(self) -> Draft | None:
        return corrections.corrected_by(self.draft)

    @cached_property
    def is_absent(self) -> bool:
        return self.draft.state == DraftState.DELIVERY_UNKNOWN and retry.can_send_again(self.draft)

    @cached_property
    def truth(self) -> Truth:
        """Gives what may be said of the draft, in one place for all who say it."""
        by = self.corrected_by.reference if self.corrected_by else ""
        return truth.of(truth.Rows(self.draft.state, self.write, self.retraction, by, self.is_absent))

    @property
    def mine(self) -> Standing | None:
        return self.standings.get(self.user.pk)

    @property
    def my_decision(self) -> Decision | None:
        """Gives the verdict of this person that stands on the newest approval."""
        decision = self.newest.get(self.user.pk)
        return decision if decision and decision.verdict != Verdict.TAKEN_BACK else None

    @property
    def is_pending(self) -> bool:
        return self.approval is not None and self.approval.state == ApprovalState.PENDING

    @property
    def can_decide(self) -> bool:
        barred = self.user.pk in self.excluded
        return self.is_pending and self.may(Verb.DECIDE) and not barred and self.my_decision is None
