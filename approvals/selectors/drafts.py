"""Drafts and approvals as one person may see them; strangers are told that there is nothing.

Reads show `expired` by the clock, whether or not a sweeper has been there yet.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import F, OuterRef, Prefetch, Q, QuerySet, Subquery

from approvals.domain.actor import Actor
from approvals.domain.errors import NotFound
from approvals.domain.gate import is_expired
from approvals.domain.states import DRAFT, ApprovalState, DeliveryState, DraftState
from approvals.models import Approval, AuditEvent, Decision, Delivery, Draft, Revision
from approvals.permissions import Verb, require
from approvals.selectors.rooms import is_storable, readable_ids

EXPIRING = tuple(DRAFT.edge("expire").sources)


@dataclass(frozen=True, slots=True)
class Current:
    """Where a draft stands now: what a conflict tells whoever acted on something older."""

    draft: int
    version: int
    digest: str
    state: str
    approval: UUID | None


@dataclass(frozen=True, slots=True)
class Pulse:
    """What a waiting reader compares: cheap to read often."""

    version: int
    seq: int
    expires_at: datetime | None


def get(actor: Actor, draft_id: int, verb: Verb = Verb.READ) -> Draft:
    """Gives a draft with all its representation needs. Raises NotFound, Forbidden or NotEligible."""
    draft = _whole(Draft.objects.filter(pk=draft_id)).first()
    if draft is None:
        raise NotFound()
    require(actor, verb, draft=draft)
    return draft


def page(
    actor: Actor,
    *,
    now: datetime,
    limit: int,
    room_id: int | None = None,
    channel: str | None = None,
    state: DraftState | None = None,
    before: int | None = None,
) -> list[Draft]:
    """Gives the newest drafts this actor may see, below `before` if given: key-set, never an offset."""
    drafts = Draft.objects.filter(room_id__in=[room_id] if room_id else readable_ids(actor))
    if channel is not None:
        drafts = drafts.filter(channel__slug=channel) if is_storable(channel) else drafts.none()
    if state is not None:
        drafts = drafts.filter(_in_state(state, now))
    if before is not None:
        drafts = drafts.filter(pk__lt=before)
    return list(_whole(drafts).order_by("-id")[:limit])


def pulse(draft_id: int) -> Pulse:
    """Gives a draft's newest change in one small read. Authorise before and after."""
    row = Draft.objects.filter(pk=draft_id).values_list("version", "seq", "state", "approval__expires_at").first()
    if row is None:
        raise NotFound()
    version, seq, state, expires_at = row
    return Pulse(version, seq, expires_at if state in EXPIRING else None)


def revision(actor: Actor, draft_id: int, number: int) -> Revision:
    """Gives one revision of a draft the actor may see."""
    related = ("draft", "channel", "target", "author", "acts_for")
    found = Revision.objects.select_related(*related).filter(draft_id=draft_id, number=number).first()
    if found is None:
        raise NotFound()
    require(actor, Verb.READ, draft=found.draft)
    return found


def events(actor: Actor, draft_id: int, *, after: int = 0, limit: int) -> list[AuditEvent]:
    """Gives a draft's own history from its `after`-th event on, oldest first."""
    draft = Draft.objects.filter(pk=draft_id).first()
    if draft is None:
        raise NotFound()
    require(actor, Verb.READ, draft=draft)
    return list(AuditEvent.objects.filter(draft_id=draft_id, pk__gt=after).order_by("id")[:limit])


def approval(actor: Actor, approval_id: UUID, verb: Verb = Verb.READ) -> Approval:
    """Gives an approval with its draft, target and decisions. Raises NotFound, Forbidden or NotEligible."""
    found = (
        Approval.objects.select_related("draft__room", "draft__channel", "target", "revision")
        .prefetch_related(Prefetch("decisions", queryset=_decisions()))
        .filter(pk=approval_id)
        .first()
    )
    if found is None:
        raise NotFound()
    require(actor, verb, draft=found.draft)
    return found


def current(actor: Actor, draft_id: int, now: datetime) -> Current | None:
    """Gives where a draft stands, or None if it is not this actor's to see."""
    draft = Draft.objects.select_related("approval").filter(pk=draft_id).first()
    if draft is None or draft.room_id not in readable_ids(actor):
        return None
    digest = draft.revisions.values_list("digest", flat=True).get(number=draft.version)
    return Current(draft.pk, draft.version, digest, state_at(draft, now), draft.approval_id)


def newest_decision(approval_id: UUID, reviewer_id: int) -> Decision | None:
    return _decisions().filter(approval_id=approval_id, reviewer_id=reviewer_id).last()


def newest_approval(draft: Draft) -> Approval | None:
    """Gives the draft's newest approval with its decisions, from what `get` or `page` has read already."""
    return next((item for item in draft.approvals.all() if item.pk == draft.approval_id), None)


def newest_revision(draft: Draft) -> Revision:
    """Gives the draft's newest revision, from what `get` or `page` has read already."""
    return draft.revisions.all()[0]


def state_at(draft: Draft, now: datetime) -> DraftState:
    """Gives a draft's state as of `now`."""
    overdue = draft.state in EXPIRING and draft.approval is not None and is_expired(now, draft.approval.expires_at)
    return DraftState.EXPIRED if overdue else DraftState(draft.state)


def approval_state_at(approval: Approval, now: datetime) -> ApprovalState:
    """Gives an approval's state as of `now`."""
    overdue = approval.is_live and is_expired(now, approval.expires_at)
    return ApprovalState.EXPIRED if overdue else ApprovalState(approval.state)


def _whole(drafts: QuerySet[Draft]) -> QuerySet[Draft]:
    approvals = Approval.objects.prefetch_related(Prefetch("decisions", queryset=_decisions()))
    published = Delivery.objects.filter(kind=Delivery.Kind.WRITE, state=DeliveryState.DELIVERED)
    corrections = published.filter(draft__corrects_id=OuterRef("pk")).order_by("-delivered_at").values("draft_id")[:1]
    return (
        drafts.select_related("room", "channel", "target", "author", "acts_for", "approval")
        .annotate(corrected_by_id=Subquery(corrections))
        .prefetch_related(
            Prefetch("revisions", queryset=Revision.objects.filter(number=F("draft__version"))),
            Prefetch("approvals", queryset=approvals),
            Prefetch("deliveries", queryset=Delivery.objects.select_related("config__channel")),
        )
    )


def _decisions() -> QuerySet[Decision]:
    return Decision.objects.select_related("reviewer").order_by("id")


def _in_state(state: DraftState, now: datetime) -> Q:
    overdue = Q(state__in=EXPIRING, approval__expires_at__lte=now)
    if state == DraftState.EXPIRED:
        return Q(state=state) | overdue
    return Q(state=state) & ~overdue if state in EXPIRING else Q(state=state)
