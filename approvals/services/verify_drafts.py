"""Verify drafts: stored bytes against their digests, and what the tables say against what the history tells."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from approvals.domain import binding as bindings
from approvals.domain.binding import digest_of
from approvals.domain.errors import Refusal
from approvals.domain.states import ApprovalState
from approvals.models import Approval, AuditEvent, Decision, Draft, Revision
from approvals.services.chain_reading import ROWS
from approvals.services.verify_chains import facts

T = TypeVar("T")
_DIGESTED = ("draft.proposed", "draft.revised")
_DECIDED = ("decision.recorded", "decision.taken_back")
_TOLD = (*_DIGESTED, *_DECIDED, "approval.approved")


@dataclass
class History:
    """What a draft's own chain tells: the digest of each version, who decided what, which approvals were given."""

    digests: dict[int, str] = field(default_factory=dict)
    decisions: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    approved: set[str] = field(default_factory=set)


def problems(seen: Counter[str]) -> Iterator[str]:
    """Gives one sentence per revision, decision or approval that was altered, or that the history does not know."""
    drafts = Draft.objects.order_by("id").prefetch_related(
        "revisions__target", "approvals__revision", "approvals__decisions__reviewer"
    )
    for some in batched(drafts.iterator(chunk_size=ROWS // 10), ROWS // 10):
        histories = _histories([draft.pk for draft in some])
        for draft in some:
            for problem in _of_draft(draft, histories[draft.pk], seen):
                yield f"{draft.reference} {problem}"


def _of_draft(draft: Draft, history: History, seen: Counter[str]) -> Iterator[str]:
    if not history.digests:
        yield "has no history."
    for revision in draft.revisions.all():
        seen["revisions"] += 1
        if fault := _revision_fault(revision, history):
            yield f"revision {revision.number} (row {revision.pk}): {fault}"
    decisions: list[Decision] = []
    for approval in draft.approvals.all():
        seen["approvals"] += 1
        decisions += approval.decisions.all()
        if fault := _approval_fault(approval, history):
            yield f"approval {approval.pk}: {fault}"
    seen["decisions"] += len(decisions)
    if _counted(decisions) != history.decisions:
        yield "has other decisions than the history tells of."


def _histories(draft_ids: list[int]) -> dict[int, History]:
    """Gives what each draft's own chain tells, by the draft's id."""
    histories: dict[int, History] = defaultdict(History)
    events = AuditEvent.objects.filter(draft_id__in=draft_ids, outcome="success", action__in=_TOLD).order_by("id")
    for draft_id, action, actor, body in events.values_list("draft_id", "action", "actor", "body"):
        history, told = histories[draft_id], facts(body).get("details") or {}
        approval_id = str(told.get("approval_id"))
        if action in _DIGESTED:
            history.digests[told.get("version", 0)] = str(told.get("digest"))
        elif action in _DECIDED:
            history.decisions[approval_id, actor, str(told.get("verdict"))] += 1
        else:
            history.approved.add(approval_id)
    return histories


def batched(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """Gives rows in lists of at most so many."""
    iterator = iter(rows)
    while some := list(islice(iterator, size)):
        yield some


def _counted(decisions: list[Decision]) -> Counter[tuple[str, str, str]]:
    who = [(str(row.approval_id), f"{row.reviewer.kind}:{row.reviewer.username}", row.verdict) for row in decisions]
    return Counter(who)


def _revision_fault(revision: Revision, history: History) -> str:
    """Says what is wrong with one revision; empty if nothing is."""
    canonical = bytes(revision.canonical)
    if digest_of(canonical) != revision.digest:
        return "its bytes do not match its digest."
    if history.digests.get(revision.number) != revision.digest:
        return "its digest is not the one in the history."
    try:
        bound = bindings.load(canonical)
    except Refusal as refusal:
        return f"its bytes cannot be read: {refusal}"
    place, target = revision.target, bound.target
    stored = (revision.operation, place.connector, place.account, place.resource)
    if (bound.operation, target.connector, target.account, target.resource) != stored:
        return "its bytes name another operation or target than its columns."
    return ""


def _approval_fault(approval: Approval, history: History) -> str:
    revision = approval.revision
    if (approval.version, approval.digest) != (revision.number, revision.digest):
        return "it names other bytes than its revision."
    if (approval.draft_id, approval.target_id) != (revision.draft_id, revision.target_id):
        return "it names another draft or target than its revision."
    given = approval.approved_at is not None or approval.state in (ApprovalState.APPROVED, ApprovalState.CONSUMED)
    if given and str(approval.pk) not in history.approved:
        return "it counts as approved, but nobody approved it in the history."
    return ""
