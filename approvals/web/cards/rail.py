"""The decision rail: time left, what the room requires, what was said so far, and what this person may do now."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from approvals.domain.gate import Standing, Tally, Verdict
from approvals.domain.policy import Policy
from approvals.domain.states import ApprovalState, DraftState
from approvals.models import Approval, Decision, Draft
from approvals.web import words
from approvals.web.cards.expiry import Expiry, expiry
from approvals.web.cards.truth import Truth

VERBS = {
    Verdict.APPROVE: ("status-approved", "approved"),
    Verdict.REJECT: ("status-rejected", "rejected"),
    Verdict.REQUEST_CHANGES: ("status-changes_requested", "requested changes to"),
    Verdict.TAKEN_BACK: ("bar", "took back their decision on"),
}
ENDS = {
    ApprovalState.SUPERSEDED: "Void: a newer approval replaced it",
    ApprovalState.REVOKED: "Void: the approval was revoked",
    ApprovalState.EXPIRED: "Void: the time ran out",
    ApprovalState.REJECTED: "Of the review that ended",
}


@dataclass(frozen=True, slots=True)
class Need:
    met: bool
    words: str
    count: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    icon: str
    name: str
    verb: str
    version: int
    comment: str
    at: datetime
    is_void: bool
    void_note: str


@dataclass(frozen=True, slots=True)
class Outcome:
    icon: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class DecisionForm:
    """What a decision posts: approval, version and the full digest that were shown, and the token that says so."""

    url: str
    approval: str
    version: int
    digest: str
    short: str
    view_token: str
    consequence: str
    hidden_count: int = 0
    comment: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class TakeBack:
    url: str
    approval: str
    text: str
    label: str


@dataclass(frozen=True, slots=True)
class Rail:
    expiry: Expiry
    expiry_label: str = "Expires in"
    outcome: Outcome | None = None
    needs: tuple[Need, ...] = ()
    said: tuple[Said, ...] = ()
    form: DecisionForm | None = None
    why_not: str = ""
    why_not_url: str = ""
    why_not_link: str = ""
    take_back: TakeBack | None = None


OUTCOMES = {
    DraftState.DRAFT: ("Not in review", "Nobody is asked to decide on it yet."),
    DraftState.CHANGES_REQUESTED: ("Changes requested", "Waiting for the author. A saved change opens a new review."),
    DraftState.REJECTED: ("Rejected", "Nothing was sent. The author can rework and submit it again."),
    DraftState.EXPIRED: ("Expired", "Nothing was sent. The author can submit it again."),
    DraftState.REVOKED: ("Revoked", "Nothing was sent. The author can submit it again."),
    DraftState.SUBMITTING: ("Submitting", "The approval is spent; a worker sends exactly these bytes."),
    DraftState.SUBMITTED: ("Submitted", "The remote took the request. It has not been read back yet."),
    DraftState.CONFIRMED: ("Confirmed", "It was read back at the remote and is what was approved."),
    DraftState.DELIVERY_UNKNOWN: ("Delivery unknown", "It may or may not be there. It is never sent again on a guess."),
    DraftState.FAILED: ("Failed", "It is not there. The approval is spent."),
    DraftState.RETRACTING: ("Retracting", "The remote is being asked to undo it."),
    DraftState.RETRACTED: ("Retracted", "Read back: it is gone."),
    DraftState.RETRACTION_UNKNOWN: ("Retraction unknown", "It may or may not still be there."),
    DraftState.RETRACTION_FAILED: ("Still public", "It could not be undone."),
}


def outcome(draft: Draft, truth: Truth) -> Outcome | None:
    """Gives what a state without an open decision says in the rail's head; the reason comes with it."""
    if draft.state not in OUTCOMES:
        return None
    state = DraftState(draft.state)
    title, text = OUTCOMES[state]
    if truth.says != words.STATE_SAYS[state]:  # what is known of this very draft goes before what is said of its state
        text = f"{truth.says}."
    return Outcome(f"status-{draft.state}", title, f"{words.sentence(draft.reason)} {text}".strip())


def time_left(approval: Approval | None, now: datetime) -> tuple[Expiry, str]:
    """Gives the time left and what it is the time for."""
    if approval is None or not approval.is_live:
        return expiry(None, now), ""
    label = "To be sent within" if approval.state == ApprovalState.APPROVED else "Expires in"
    return expiry(approval.expires_at, now), label


def needs(policy: Policy, tally: Tally, mine: Standing | None, barred: list[str]) -> Iterator[Need]:
    """Gives the checklist of the policy, each line with what it has of what it needs."""
    counted = len(tally.approvals)
    required = policy.required_approvals
    yield Need(counted >= required, words.plural(required, "approval"), f"{counted} of {required}")
    for item in policy.requirements:
        have = tally.groups.get(item.group, 0)
        counts = mine is not None and mine.in_good_standing and item.group in mine.groups
        note = f"Yours counts: you are in {item.group}" if counts else ""
        yield Need(
            have >= item.minimum, f"At least {item.minimum} from {item.group}", f"{have} of {item.minimum}", note
        )
    yield Need(True, "Nobody who wrote it", "held", f"Excluded: {', '.join(barred)}" if barred else "")


def said(decisions: Iterable[Decision], current: Approval | None) -> Iterator[Said]:
    """Gives every decision of the draft, newest first; those that no longer count are struck and say why."""
    found = sorted(decisions, key=lambda decision: decision.pk, reverse=True)
    later: set[tuple[object, int]] = set()
    for decision in found:
        key = (decision.approval_id, decision.reviewer_id)
        note = _void_note(decision, current, replaced=key in later)
        later.add(key)
        icon, verb = VERBS[Verdict(decision.verdict)]
        yield Said(
            icon="bar" if note else icon,
            name=decision.reviewer.username,
            verb=verb,
            version=decision.version,
            comment=decision.comment,
            at=decision.decided_at,
            is_void=bool(note),
            void_note=note,
        )


def consequence(policy: Policy, tally: Tally, mine: Standing, size: int) -> str:
    """Says what an approval by this person would cause, before they press."""
    bytes_ = words.plural(size, "byte")
    missing = _missing_after(policy, tally, mine)
    if missing:
        return f"After yours, {missing} still missing. Any edit voids it."
    if policy.dispatch == "manual":
        return f"Yours is the last approval needed: these {bytes_} may then be sent by hand. Any edit voids it."
    when = "at once"
    if policy.dispatch_delay:
        when = f"after {words.span(policy.dispatch_delay)}, in which you can take it back"
    return f"Yours is the last approval needed: these {bytes_} are then sent {when}. Any edit voids it."


def missing(policy: Policy, tally: Tally) -> str:
    """Gives what is still needed, shortly: `needs legal`."""
    groups = [item.group for item in policy.requirements if tally.groups.get(item.group, 0) < item.minimum]
    return f"needs {words.names(groups)}" if groups else ""


def _missing_after(policy: Policy, tally: Tally, mine: Standing) -> str:
    count = policy.required_approvals - len(tally.approvals | {mine.reviewer_id})
    parts = [f"{words.plural(count, 'approval')} {'is' if count == 1 else 'are'}"] if count > 0 else []
    for item in policy.requirements:
        have = tally.groups.get(item.group, 0) + (item.group in mine.groups)
        if have < item.minimum:
            parts.append(f"{item.minimum - have} from {item.group} is")
    return " and ".join(parts)


def _void_note(decision: Decision, current: Approval | None, *, replaced: bool) -> str:
    if replaced:
        return "Void: replaced by a later word of theirs"
    if decision.verdict == Verdict.TAKEN_BACK:
        return ""
    if current is not None and decision.approval_id == current.pk:
        return "" if decision.approval.state != ApprovalState.REVOKED else ENDS[ApprovalState.REVOKED]
    return ENDS.get(ApprovalState(decision.approval.state), "Of an earlier review")
