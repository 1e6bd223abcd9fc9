"""What the pages read: drafts this person may see, in the order of the queue, a page at a time."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import BooleanField, DateTimeField, Exists, F, Func, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Substr

from approvals.domain.actor import Actor
from approvals.domain.gate import Verdict
from approvals.domain.states import QUEUE_RANK, ApprovalState, DraftState
from approvals.models import Decision, Draft, Exclusion, Membership, Revision, User
from approvals.permissions import Verb, require
from approvals.selectors.rooms import ANY_ROLE

PAGE = 50
MANY = 1_000
"""Counts are capped at this: nobody needs more, and counting further costs the database."""
PREFIX_BYTES = 700
"""How much of the canonical bytes a row's excerpt is taken from."""

Cursor = tuple[int, datetime, int]
UNKNOWN = (DraftState.DELIVERY_UNKNOWN, DraftState.RETRACTION_UNKNOWN)


def draft_for(actor: Actor, draft_id: int) -> Draft:
    """Gives a draft with what its page needs. Raises NotFound for strangers."""
    draft = (
        Draft.objects.select_related(
            "room",
            "channel__room",
            "channel__config__channel",
            "target__dispatch_claim",
            "approval__config__channel",
            "approval__revision",
            "author",
            "acts_for",
        )
        .filter(pk=draft_id)
        .first()
    )
    require(actor, Verb.READ, room_id=draft.room_id if draft else None)
    assert draft is not None  # without a room nobody is related to it, so `require` has refused
    return draft


def memberships(user: User) -> list[Membership]:
    """Gives the rooms a person has a role in, by name."""
    return list(user.memberships.filter(ANY_ROLE).select_related("room").order_by("room__name", "room_id"))


def drafts_in(room_ids: Iterable[int]) -> QuerySet[Draft]:
    return Draft.objects.filter(room_id__in=list(room_ids))


def in_state(drafts: QuerySet[Draft], state: DraftState) -> QuerySet[Draft]:
    """Narrows by state; the rank in front of it lets the queue's index do the work."""
    return drafts.filter(queue_rank=QUEUE_RANK[state], state=state)


def your_turn(user: User, members: Iterable[Membership], now: datetime) -> QuerySet[Draft]:
    """Gives what waits for this very person.

    Unknown outcomes for operators, open decisions, changes asked of the author, and what waits for a press to be sent.
    """
    rooms = list(members)
    operated = [member.room_id for member in rooms if member.is_operator]
    reviewed = [member.room_id for member in rooms if member.is_reviewer and not user.is_agent]
    decided = Decision.objects.filter(approval_id=OuterRef("approval_id"), reviewer=user)
    newest_stands = Exists(decided.exclude(verdict=Verdict.TAKEN_BACK).exclude(Exists(_later_than(OuterRef("pk")))))
    excluded = Exists(Exclusion.objects.filter(draft_id=OuterRef("pk"), user=user))
    unknown = Q(room_id__in=operated, queue_rank=0)
    decide = Q(room_id__in=reviewed, queue_rank=QUEUE_RANK[DraftState.IN_REVIEW], approval__state=ApprovalState.PENDING)
    decide &= Q(approval__expires_at__gt=now) & ~newest_stands & ~excluded
    mine = Q(author=user) | Q(acts_for=user)
    rework = mine & Q(
        room_id__in=[member.room_id for member in rooms],
        queue_rank=QUEUE_RANK[DraftState.CHANGES_REQUESTED],
        state=DraftState.CHANGES_REQUESTED,
    )
    press = Q(room_id__in={*reviewed, *operated}, queue_rank=QUEUE_RANK[DraftState.APPROVED])
    press &= Q(approval__state=ApprovalState.APPROVED, approval__dispatch_at=None, approval__expires_at__gt=now)
    return Draft.objects.filter(unknown | decide | rework | press)


def _later_than(pk: OuterRef) -> QuerySet[Decision]:
    return Decision.objects.filter(approval_id=OuterRef("approval_id"), reviewer_id=OuterRef("reviewer_id"), pk__gt=pk)


def page(drafts: QuerySet[Draft], after: Cursor | None) -> tuple[list[Draft], Cursor | None]:
    """Gives one page in the order of the queue, and where the next one begins. Key-set: no offsets, no counting."""
    if after:
        drafts = drafts.filter(_comes_after(after))
    related = ("room", "channel", "target", "author", "acts_for", "approval")
    rows = list(drafts.select_related(*related).order_by("queue_rank", "due_at", "id")[: PAGE + 1])
    more = len(rows) > PAGE
    last = rows[PAGE - 1] if more else None
    return rows[:PAGE], (last.queue_rank, last.due_at, last.pk) if last else None


class _RowAfter(Func):
    """`(a, b, c) > (x, y, z)`: by row value both databases answer from the index; Django writes an OR for SQLite."""

    output_field = BooleanField()

    def as_sql(self, compiler: Any, connection: Any, **extra: Any) -> tuple[str, list[Any]]:
        parts = [compiler.compile(expression) for expression in self.source_expressions]
        half = len(parts) // 2
        row, other = (", ".join(sql for sql, _ in side) for side in (parts[:half], parts[half:]))
        return f"({row}) > ({other})", [param for _, params in parts for param in params]


def _comes_after(after: Cursor) -> _RowAfter:
    rank, due_at, pk = after
    due = Value(due_at, output_field=DateTimeField())
    return _RowAfter(F("queue_rank"), F("due_at"), F("id"), Value(rank), due, Value(pk))


def capped_count(rows: QuerySet[Any]) -> int:
    """Counts up to one above the cap."""
    return rows.order_by()[: MANY + 1].count()


def turn_per_room(drafts: QuerySet[Draft]) -> Counter[int]:
    """Counts a person's turn per room, up to the cap, in one read."""
    return Counter(drafts.order_by().values_list("room_id", flat=True)[: MANY + 1])


def newest_bytes(drafts: Iterable[Draft]) -> dict[int, tuple[str, bytes]]:
    """Gives the digest of each draft's newest revision and the beginning of its bytes."""
    wanted = [draft.pk for draft in drafts]
    newest = Revision.objects.filter(draft_id__in=wanted, number=F("draft__version"))
    rows = newest.annotate(prefix=Substr("canonical", 1, PREFIX_BYTES)).values_list("draft_id", "digest", "prefix")
    return {draft_id: (digest, bytes(prefix)) for draft_id, digest, prefix in rows}
