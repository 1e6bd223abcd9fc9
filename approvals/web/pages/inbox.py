"""The queue pages: your turn, one room, everything. The same list, narrowed."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.urls import reverse

from approvals.domain.states import DraftState
from approvals.models import Decision, Draft, Membership, Room, User
from approvals.selectors import counting, pauses, rooms
from approvals.selectors import queue as reads
from approvals.selectors.queue import Cursor
from approvals.web import words
from approvals.web.cards import excerpt, queue
from approvals.web.cards.queue import Chip, Empty, QueueRow
from approvals.web.pages import pausing
from approvals.web.pages.frame import Notice

TURN, ALL = "turn", "all"
STATES = (DraftState.IN_REVIEW, DraftState.APPROVED, DraftState.DELIVERY_UNKNOWN, DraftState.CONFIRMED)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class GuideStep:
    text: str
    url: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Guide:
    """What to click first, for somebody who has never decided or proposed anything."""

    title: str
    steps: tuple[GuideStep, ...]


@dataclass(frozen=True, slots=True)
class InboxPage:
    title: str
    order: str
    chips: tuple[Chip, ...]
    rows: list[QueueRow]
    next_url: str
    empty: Empty
    guide: Guide | None
    notices: tuple[Notice, ...]
    new_url: str


@dataclass(frozen=True, slots=True)
class Asked:
    """Which list somebody wants: of a room or of all their rooms, which filter, from where on."""

    show: str
    after: str
    room: Room | None = None

    @property
    def base(self) -> str:
        return reverse("room", args=[self.room.slug]) if self.room else reverse("inbox")

    @property
    def default(self) -> str:
        return ALL if self.room else TURN

    def url(self, show: str, after: str = "") -> str:
        query = {"show": show if show != self.default else "", "after": after}
        found = urlencode({key: value for key, value in query.items() if value})
        return f"{self.base}?{found}" if found else self.base


def page(user: User, members: list[Membership], now: datetime, asked: Asked) -> InboxPage:
    """Gives one page of one list. The filter is a plain word in the address; an unknown one is the default."""
    shown = asked.show if asked.show in (TURN, ALL, *STATES) else asked.default
    lists = _lists(user, members, now, asked.room)
    drafts, after = reads.page(lists[shown], parse_cursor(asked.after))
    rows = _rows(drafts, user, now)
    counts = {name: reads.capped_count(found) for name, found in lists.items()}
    return InboxPage(
        title=_title(shown, asked.room),
        order="Unknown deliveries first, then soonest expiry. Times are UTC.",
        chips=tuple(_chip(name, counts[name], asked, shown) for name in lists),
        rows=rows,
        next_url=asked.url(shown, written(after)) if after else "",
        empty=_empty(shown, counts, members, asked),
        guide=_guide(user, members, rows) if shown == TURN else None,
        notices=tuple(_paused(members, asked.room, now)),
        new_url=reverse("new") if _may_propose(members) else "",
    )


def parse_cursor(text: str) -> Cursor | None:
    """Reads `rank.microseconds.id`; anything else means from the start."""
    try:
        rank, since, pk = (int(part) for part in text.split("."))
        due_at = _EPOCH + timedelta(microseconds=since)
        return (rank, due_at, pk) if 0 <= rank <= 99 and 0 <= pk < 2**63 else None
    except (ValueError, OverflowError):
        return None


def written(cursor: Cursor) -> str:
    rank, due_at, pk = cursor
    return f"{rank}.{(due_at - _EPOCH) // _MICROSECOND}.{pk}"


def _lists(user: User, members: list[Membership], now: datetime, room: Room | None) -> dict[str, QuerySet[Draft]]:
    turn = reads.your_turn(user, members, now)
    everything = reads.drafts_in([room.pk] if room else [member.room_id for member in members])
    states = {state.value: reads.in_state(everything, state) for state in STATES}
    return {TURN: turn.filter(room=room) if room else turn, **states, ALL: everything}


def _rows(drafts: list[Draft], user: User, now: datetime) -> list[QueueRow]:
    approvals = []
    for draft in drafts:
        if draft.approval:
            draft.approval.draft = draft
            approvals.append(draft.approval)
    tallies, newest = counting.tallies(approvals), reads.newest_bytes(drafts)
    return [
        queue.row(
            draft,
            url=reverse("draft", args=[draft.pk]),
            tally=tallies.get(draft.approval_id) if draft.approval_id else None,
            digest=newest[draft.pk][0],
            excerpt=excerpt.of_draft(draft, newest[draft.pk][1]),
            reader=user,
            now=now,
        )
        for draft in drafts
    ]


def _title(shown: str, room: Room | None) -> str:
    titles = {TURN: "Your turn", ALL: "Everything"}
    title = titles.get(shown) or words.STATE_LABELS[shown]
    if room is None:
        return title
    return room.name if shown == ALL else f"{room.name}: {title.lower()}"


def _chip(name: str, count: int, asked: Asked, shown: str) -> Chip:
    label = {TURN: "Your turn", ALL: "All"}.get(name) or words.STATE_LABELS[name]
    unknown = name == DraftState.DELIVERY_UNKNOWN and count > 0
    return Chip(label, asked.url(name), words.capped(count), name == shown, unknown)


def _empty(shown: str, counts: dict[str, int], members: list[Membership], asked: Asked) -> Empty:
    if not members:
        return Empty("door", "You are in no room yet", "An operator of a room has to add you. Then come back here.")
    if shown != TURN:
        return Empty("list", "Nothing here", "No item is in this list right now.", asked.url(ALL), "See everything")
    in_review = counts[DraftState.IN_REVIEW]
    if in_review:
        text = (
            f"{_items(in_review)} in review with other people. "
            "Yours come back here if one is edited or its delivery becomes unknown."
        )
        return Empty("inbox", "Nothing needs you", text, asked.url(DraftState.IN_REVIEW), "See what is in review")
    if _may_propose(members):
        text = "Nothing waits for you. Propose an action, and others review it before it goes out."
        return Empty("inbox", "Nothing needs you", text, reverse("new"), "New draft")
    text = "Nothing waits for you. As soon as somebody proposes an action, it stands here."
    return Empty("inbox", "Nothing needs you", text, asked.url(ALL), "See everything")


def _items(count: int) -> str:
    return f"{words.capped(count)} item{' is' if count == 1 else 's are'}"


def _guide(user: User, members: Iterable[Membership], rows: list[QueueRow]) -> Guide | None:
    """Gives the way through the first decision here, or the first proposal, until somebody has made one."""
    found = list(members)
    if any(member.is_reviewer for member in found):
        return None if Decision.objects.filter(reviewer=user, via="web").exists() else _first_decision(rows)
    if _may_propose(found) and not Draft.objects.filter(author=user).exists():
        steps = (
            GuideStep("Propose an action:", reverse("new"), "New draft"),
            GuideStep("Reviewers of the room see exactly what would be sent, and decide."),
            GuideStep("What was approved is sent once. Its page shows how far it has come."),
        )
        return Guide("Start here", steps)
    return None


def _first_decision(rows: list[QueueRow]) -> Guide | None:
    """Leads to the newest item that this person's approval completes, or to the first one."""
    open_rows = [row for row in rows if row.state == DraftState.IN_REVIEW]
    if not open_rows:
        return None
    completing = [row for row in open_rows if row.progress.is_last and not row.progress.need]
    first = max(completing, key=lambda row: row.number, default=open_rows[0])
    return Guide(
        "Start here",
        (
            GuideStep("Open this one:", first.url, first.title),
            GuideStep("Read where it goes (the dark slab) and what would be sent. Nothing has gone out yet."),
            GuideStep("Press Approve. When enough people have, its page shows it being sent, taken and read back."),
        ),
    )


def _may_propose(members: Iterable[Membership]) -> bool:
    return any(member.is_proposer for member in members)


def _paused(members: list[Membership], room: Room | None, now: datetime) -> Iterable[Notice]:
    """Gives what is paused: every room of a person's, and the channels of the room they look at."""
    for each in [room] if room else [member.room for member in members]:
        if pause := pauses.of_room(each):
            notice, url = pausing.of_room(each, pause, now), reverse("room", args=[each.slug])
            yield pausing.with_way(notice, f"{url}#sending", f"Ways out of {each.name}")
    for channel in rooms.channels_of(room) if room else ():
        if pause := pauses.of_channel(channel):
            yield pausing.with_way(pausing.of_channel(channel, pause, now), "#sending", "Ways out")
