"""The tabs of a draft's page: content, changes, exact bytes, history, and the delivery once there is one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from approvals.domain.binding import Binding
from approvals.domain.states import DraftState
from approvals.models import AuditEvent, Delivery, Draft
from approvals.selectors import queue as reads
from approvals.services import rendering
from approvals.web import words
from approvals.web.cards import canonical, changes, delivery, lane, payload, timeline
from approvals.web.cards.changes import Difference
from approvals.web.cards.payload import Field, Hidden
from approvals.web.pages import settle
from approvals.web.pages.reader import Reader

CONTENT, CHANGES, BYTES, HISTORY, DELIVERY = "content", "changes", "bytes", "history", "delivery"
MOVING = frozenset({DraftState.IN_REVIEW, DraftState.APPROVED, DraftState.SUBMITTING, DraftState.RETRACTING})
AFTER_APPROVAL = frozenset(
    {
        DraftState.APPROVED,
        DraftState.SUBMITTING,
        DraftState.SUBMITTED,
        DraftState.CONFIRMED,
        DraftState.DELIVERY_UNKNOWN,
        DraftState.FAILED,
        *lane.RETRACTION,
    }
)
POLLED = {
    DraftState.APPROVED: "2s",
    DraftState.SUBMITTING: "2s",
    DraftState.SUBMITTED: "2s",
    DraftState.RETRACTING: "2s",
    DraftState.DELIVERY_UNKNOWN: "15s",
    DraftState.RETRACTION_UNKNOWN: "15s",
}
"""How often an open page asks whether something has moved; states at rest are not asked about."""
EVENTS_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Tab:
    label: str
    url: str
    count: str = ""
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """The tabs, and the one that is open. `shows_everything`: it holds every byte that an approval covers."""

    tabs: tuple[Tab, ...]
    template: str
    body: Any
    shows_everything: bool


@dataclass(frozen=True, slots=True)
class Content:
    warning: Hidden | None
    fields: list[Field]
    note: str
    context: list[Field]


@dataclass(frozen=True, slots=True)
class Changes:
    warning: Hidden | None
    diff: Difference | None
    fields: list[Field]


def opened(reader: Reader, binding: Binding, hidden: Hidden | None, *, name: str, as_hex: bool, url: str) -> Opened:
    """Gives the tabs with one of them open; an unknown name opens what the state is about."""
    has_delivery = reader.draft.state in AFTER_APPROVAL
    names = [*([DELIVERY] if has_delivery else []), CONTENT, CHANGES, BYTES, HISTORY]
    chosen = name if name in names else names[0]
    difference = since_last(reader, binding)
    makers: dict[str, Callable[[], Any]] = {
        DELIVERY: lambda: moving(reader),
        CONTENT: lambda: _content(reader, binding, hidden, difference),
        CHANGES: lambda: Changes(hidden, difference, list(payload.fields(binding.payload))),
        BYTES: lambda: _bytes(reader, hidden, as_hex=as_hex, url=url),
        HISTORY: lambda: _history(reader),
    }
    events = words.capped(reads.capped_count(AuditEvent.objects.filter(draft=reader.draft)))
    counts = {
        HISTORY: events,
        CHANGES: _count(difference),
        BYTES: f"{hidden.count:,} hidden" if hidden and hidden.count else "",
    }
    return Opened(
        tabs=tuple(_tab(each, url, chosen, counts.get(each, "")) for each in names),
        template=f"tabs/{chosen}.html",
        body=makers[chosen](),
        shows_everything=chosen in (CONTENT, CHANGES, BYTES),
    )


def since_last(reader: Reader, binding: Binding) -> Difference | None:
    """Gives the difference to the revision before the newest one."""
    number = reader.draft.version
    before = reader.draft.revisions.filter(number=number - 1).first()
    if before is None:
        return None
    return changes.difference(rendering.binding_of(before), binding, numbers=(number - 1, number))


def moving(reader: Reader) -> delivery.DeliveryView:
    """Gives the part that loads itself again while something moves."""
    draft = reader.draft
    lines = delivery.lines(reader.deliveries)
    mark = delivery.mark(lines)
    query = urlencode({"seen": seen(reader), "attempts": mark})
    return delivery.DeliveryView(
        lane=lane.lane(_story(reader)),
        updated_at=reader.now,
        attempts=lines,
        attempts_mark=mark,
        summary=delivery.summary(lines),
        poll_url=f"{reverse('delivery', args=[draft.pk])}?{query}",
        poll_every=_pace(draft, reader.write),
        announce=f"{draft.reference}: {words.STATE_LABELS[draft.state]}",
    )


def seen(reader: Reader) -> str:
    """Gives a short text that changes when more of the page than the moving part has to be made anew."""
    found = settle.card(reader)
    return f"{reader.draft.state}.{found.offers if found else ''}.{reader.truth.says}"


def _story(reader: Reader) -> lane.Story:
    approval = reader.approval
    assert approval is not None  # states after approval have one
    return lane.Story(
        draft=reader.draft,
        approval=approval,
        approvals_counted=len(reader.tally.approvals),
        write=reader.write,
        retraction=reader.retraction,
        now=reader.now,
        is_absent=reader.is_absent,
        corrected_by=reader.corrected_by.reference if reader.corrected_by else "",
    )


def _pace(draft: Draft, write: Delivery | None) -> str:
    """Gives how often to ask; a write whose read-back gave another answer than equal is at rest."""
    at_rest = draft.state == DraftState.SUBMITTED and write is not None and bool(write.verification)
    return "" if at_rest else POLLED.get(DraftState(draft.state), "")


def _tab(name: str, url: str, chosen: str, count: str) -> Tab:
    labels = {BYTES: "Exact bytes"}
    return Tab(labels.get(name, name.capitalize()), f"{url}?tab={name}", count, name == chosen)


def _count(difference: Difference | None) -> str:
    return str(difference.count) if difference else ""


def _content(reader: Reader, binding: Binding, hidden: Hidden | None, difference: Difference | None) -> Content:
    found = list(payload.fields(binding.payload))
    if difference:
        note = f"changed since revision {reader.draft.version - 1}"
        found = payload.marked(found, difference.changed, note)
    context = reader.draft.context
    return Content(hidden, found, reader.draft.note, _context(context))


def _context(context: Any) -> list[Field]:
    if context in (None, {}, []):
        return []
    return list(payload.fields(context if isinstance(context, dict) else {"context": context}))


def _bytes(reader: Reader, hidden: Hidden | None, *, as_hex: bool, url: str) -> canonical.Bytes:
    draft, approval = reader.draft, reader.approval
    request = rendering.request_of(approval) if approval and approval.version == draft.version else None
    return canonical.view(
        reader.revision,
        request,
        made_from=f"by {draft.channel.connector}, configuration {approval.config.number}" if approval else "",
        hidden_count=hidden.count if hidden else 0,
        as_hex=as_hex,
        page_url=url,
        download_url=reverse("canonical", args=[draft.pk, draft.version]),
        file_name=file_name(reader),
    )


def file_name(reader: Reader) -> str:
    return f"{reader.draft.reference.lower()}-r{reader.draft.version}.json"


def _history(reader: Reader) -> timeline.History:
    events = AuditEvent.objects.filter(draft=reader.draft).order_by("-id")
    rows = list(events[: EVENTS_SHOWN + 1])
    total = words.plural(len(rows), "event") if len(rows) <= EVENTS_SHOWN else f"The newest {EVENTS_SHOWN} events"
    return timeline.history(rows[:EVENTS_SHOWN], total=total)
