"""The whole database at once: every draft stands in an allowed combination, and what belongs together agrees."""

from collections.abc import Iterator

from django.db.models import Count, F, Q

from approvals.domain.combinations import NONE, Combination, is_allowed
from approvals.domain.states import LIVE_APPROVAL, ApprovalState, ClaimState
from approvals.models import Approval, Delivery, DispatchClaim, Draft


def problems() -> Iterator[str]:
    """Gives one sentence per draft or approval that no sequence of lawful steps can have left like this."""
    yield from _combinations()
    yield from _pointers()


def _combinations() -> Iterator[str]:
    serving = _claims_by_draft()
    drafts = Draft.objects.select_related("approval", "channel").order_by("id")
    for draft in drafts.prefetch_related("deliveries").iterator(chunk_size=500):
        found = _combination(draft, serving.get(draft.pk, ClaimState.IDLE))
        if not is_allowed(found):
            yield f"{draft.reference} stands in a combination that cannot be: {found}."


def _claims_by_draft() -> dict[int, str]:
    """Gives the phase of each draft's dispatch claim; a first send has no delivery yet, a retraction no approval."""
    held = DispatchClaim.objects.exclude(state=ClaimState.IDLE)
    found = {draft_id: state for draft_id, state in held.values_list("approval__draft_id", "state") if draft_id}
    undoing = dict(held.filter(approval=None).values_list("delivery_id", "state"))
    for delivery_id, draft_id in Delivery.objects.filter(pk__in=undoing).values_list("pk", "draft_id"):
        found[draft_id] = undoing[delivery_id]
    return found


def _combination(draft: Draft, claim: str) -> Combination:
    deliveries = sorted(draft.deliveries.all(), key=lambda delivery: delivery.created_at)
    newest = {delivery.kind: delivery.state for delivery in deliveries}
    return Combination(
        draft=draft.state,
        approval=draft.approval.state if draft.approval else NONE,
        write=newest.get(Delivery.Kind.WRITE, NONE),
        retraction=newest.get(Delivery.Kind.RETRACT, NONE),
        claim=claim,
        exclusive=draft.channel.is_exclusive,
    )


def _pointers() -> Iterator[str]:
    live = Approval.objects.filter(state__in=LIVE_APPROVAL).exclude(draft__approval=F("id"))
    for approval in live.select_related("draft"):
        yield f"{approval.draft.reference} has a live approval {approval.pk} that is not its newest."
    astray = Approval.objects.filter(state__in=LIVE_APPROVAL).filter(
        ~Q(version=F("draft__version")) | ~Q(digest=F("revision__digest")) | ~Q(target=F("draft__target"))
    )
    for approval in astray.select_related("draft"):
        yield f"{approval.draft.reference} has a live approval {approval.pk} for other bytes than its newest revision."
    spent = Approval.objects.filter(state=ApprovalState.CONSUMED).values("draft_id").annotate(n=Count("id"))
    for row in spent.filter(n__gt=1):
        yield f"RR-{row['draft_id']} has {row['n']} consumed approvals."
