"""The forms that write a proposal: choose where it goes, write it, edit it. A typed text survives every fault."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from django.urls import reverse

from approvals.models import Channel, ChannelConfig, Draft, Membership
from approvals.services import corrections
from approvals.web import words
from approvals.web.cards import plate
from approvals.web.cards.conflict import EditConflict
from approvals.web.cards.plate import Plate
from approvals.web.cards.queue import Empty
from approvals.web.pages.frame import Crumb, Notice
from approvals.web.writing import FIELDS, JSON, Written


@dataclass(frozen=True, slots=True)
class Input:
    """One labelled control, with its hint and fault tied to it."""

    name: str
    id: str
    label: str
    value: str
    rows: int = 1
    hint: str = ""
    fault: str = ""
    is_code: bool = False
    is_line: bool = False
    is_required: bool = False
    is_optional: bool = False
    is_fixed: bool = False
    kind: str = "text"
    choices: tuple[str, ...] = ()

    @property
    def described_by(self) -> str:
        parts = [f"{self.id}-{what}" for what in ("fault", "hint") if getattr(self, what)]
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class ProposalForm:
    url: str
    cancel_url: str
    submit_label: str
    keep_label: str
    consequence: str
    hidden: tuple[tuple[str, str], ...]
    resource: Input | None
    inputs: tuple[Input, ...]
    words: tuple[Input, ...]
    not_before: Input | None = None
    fixed_note: str = ""
    mode_note: str = ""
    other_mode_url: str = ""
    other_mode_label: str = ""


@dataclass(frozen=True, slots=True)
class EditPage:
    heading: str
    text: str
    crumbs: tuple[Crumb, ...]
    plate: Plate
    form: ProposalForm
    notices: tuple[Notice, ...] = ()
    conflict: EditConflict | None = None


@dataclass(frozen=True, slots=True)
class Way:
    url: str
    operation: str
    channel: str
    account: str
    exact: str


@dataclass(frozen=True, slots=True)
class RoomWays:
    slug: str
    name: str
    ways: tuple[Way, ...]


@dataclass(frozen=True, slots=True)
class NewPage:
    crumbs: tuple[Crumb, ...]
    rooms: tuple[RoomWays, ...]
    empty: Empty = field(
        default=Empty("door", "Nowhere to propose to", "You need the role proposer in a room that has a channel.")
    )


@dataclass(frozen=True, slots=True)
class Source:
    """Where the text of a new draft came from: a draft that is copied, or a published one that is corrected."""

    copied: Draft | None = None
    corrected: Draft | None = None


def choices(members: list[Membership]) -> NewPage:
    """Gives every operation of every channel this person may propose to."""
    rooms = tuple(_room_ways(member) for member in members if member.is_proposer)
    return NewPage(
        crumbs=(Crumb("Your turn", reverse("inbox")), Crumb("New draft")),
        rooms=tuple(room for room in rooms if room.ways),
    )


def writing(channel: Channel, config: ChannelConfig, operation: str, written: Written, source: Source) -> EditPage:
    """Gives the form of a new draft on one channel; of a correction the destination is that of what it corrects."""
    here = {"room": channel.room.slug, "channel": channel.slug, "operation": operation}
    corrected = source.corrected
    if corrected is not None:
        here |= {"corrects": str(corrected.pk), "resource": corrected.target.resource}
    verb = f"Correct {corrected.reference}" if corrected else f"New draft: {words.operation(operation)}"
    return EditPage(
        heading=verb,
        text=f"In {channel.room.name}. Nothing goes out before it was reviewed.",
        crumbs=(Crumb("Your turn", reverse("inbox")), Crumb("New draft", reverse("new")), Crumb(operation)),
        plate=plate.of_way(
            channel,
            config,
            operation,
            resource=corrected.target.resource if corrected else "",
            replaces=_object(corrected),
        ),
        form=_form(
            written,
            url=reverse("new"),
            cancel_url=reverse("draft", args=[corrected.pk]) if corrected else reverse("inbox"),
            labels=("Submit for review", "Keep as a draft"),
            hidden=(*here.items(), ("once", uuid4().hex)),
            resource=None if corrected else _resource(config, written),
            not_before=_not_before(written),
        ),
        notices=_notices(written, source),
    )


def _object(corrected: Draft | None) -> str:
    """Gives the id of the object at the remote that a correction replaces."""
    write = corrections.write_of(corrected) if corrected else None
    return write.remote_id if write else ""


def editing(draft: Draft, written: Written, *, is_live: bool, conflict: EditConflict | None = None) -> EditPage:
    """Gives the form of an existing draft; while an approval is live, only content may change."""
    url = reverse("draft", args=[draft.pk])
    consequence = "A changed byte makes a new revision and voids every approval so far." if is_live else ""
    labels = ("Save and ask again" if is_live else "Save and submit for review", "" if is_live else "Save as a draft")
    return EditPage(
        heading=f"Edit {draft.reference}: {draft.title}",
        text="",
        crumbs=(
            Crumb("Your turn", reverse("inbox")),
            Crumb(draft.room.name, reverse("room", args=[draft.room.slug])),
            Crumb(draft.reference, url),
            Crumb("Edit"),
        ),
        plate=plate.of_draft(draft),
        form=_form(
            written,
            url=reverse("edit", args=[draft.pk]),
            cancel_url=url,
            labels=labels,
            hidden=(("version", str(written.version)),),
            consequence=consequence,
            fixed=is_live,
        ),
        notices=_notices(written, Source()),
        conflict=conflict,
    )


def _form(
    written: Written,
    *,
    url: str,
    cancel_url: str,
    labels: tuple[str, str],
    hidden: tuple[tuple[str, str], ...],
    resource: Input | None = None,
    not_before: Input | None = None,
    consequence: str = "",
    fixed: bool = False,
) -> ProposalForm:
    other = FIELDS if written.mode == JSON else JSON
    offered = written.fields_fit or written.mode == FIELDS
    return ProposalForm(
        url=url,
        cancel_url=cancel_url,
        submit_label=labels[0],
        keep_label=labels[1],
        consequence=consequence,
        hidden=(*hidden, ("mode", written.mode), *(("field", name) for name in written.field_names)),
        resource=resource,
        inputs=tuple(_inputs(written)),
        words=_words(written, fixed=fixed),
        not_before=not_before,
        fixed_note="Fixed while it is in review. Withdraw it first to change them." if fixed else "",
        mode_note=written.mode_note,
        other_mode_url=written.mode_url(other) if offered else "",
        other_mode_label="Write it as JSON" if other == JSON else "Write it field by field",
    )


def _inputs(written: Written) -> list[Input]:
    if written.mode == JSON:
        fault = written.faults.get("payload", "")
        hint = "A JSON object. It is stored in canonical form, so blanks and the order of fields do not matter."
        rows = min(max(written.payload_text.count("\n") + 2, 8), 40)
        return [Input("payload", "payload", "Payload", written.payload_text, rows, hint, fault, True, is_required=True)]
    return [
        Input(
            name=f"value:{line.name}",
            id=f"value-{number}",
            label=line.label,
            value=line.text,
            rows=min(max(line.text.count("\n") + 2, 2), 24),
            hint=line.hint,
            fault=written.faults.get(line.name, ""),
            is_code=not line.is_text,
            is_line=line.is_short or not line.is_text,
            is_required=line.is_required and not line.is_text,
            is_optional=not line.is_required,
            choices=line.choices,
        )
        for number, line in enumerate(written.lines, 1)
    ]


def _words(written: Written, *, fixed: bool) -> tuple[Input, ...]:
    """Gives the proposer's own words, which nobody approves."""
    title = Input("title", "title", "Title", written.title, is_line=True, is_optional=not fixed, is_fixed=fixed)
    note = Input("note", "note", "Note for the reviewers", written.note, rows=3, is_optional=not fixed, is_fixed=fixed)
    return (_with_fault(title, written), _with_fault(note, written))


def _with_fault(control: Input, written: Written) -> Input:
    values: dict[str, Any] = {name: getattr(control, name) for name in control.__slots__}
    return Input(**{**values, "fault": written.faults.get(control.name, "")})


def _resource(config: ChannelConfig, written: Written) -> Input | None:
    if config.resource:
        return None
    return Input(
        "resource",
        "resource",
        "Resource",
        written.resource,
        hint=f"Of the form {config.resource_pattern}; each * stands for one part.",
        fault=written.faults.get("resource", ""),
        is_code=True,
        is_line=True,
        is_required=True,
    )


def _not_before(written: Written) -> Input:
    return Input(
        "not_before",
        "not-before",
        "Send not before, in UTC",
        written.not_before,
        hint="Empty: as soon as it is approved and the room's delay is over. It cannot be changed afterwards.",
        fault=written.faults.get("not_before", ""),
        is_line=True,
        is_optional=True,
        kind="datetime-local",
    )


def _notices(written: Written, source: Source) -> tuple[Notice, ...]:
    found, copied, corrected = [], source.copied, source.corrected
    if written.fault:
        found.append(Notice("bad", "alert", "Nothing was saved", written.fault, alert=True))
    if corrected:
        text = "It is reviewed like any other draft. When it is sent, the same object at the remote is replaced."
        title = f"Corrects {corrected.reference}: {corrected.title}"
        url = reverse("draft", args=[corrected.pk])
        found.append(Notice("start", "replaces", title, text, url=url, link=f"Open {corrected.reference}"))
    elif copied:
        found.append(Notice("start", "copy", f"Copied from {copied.reference}", "It becomes a draft of its own."))
    return tuple(found)


def _room_ways(member: Membership) -> RoomWays:
    room = member.room
    channels = (
        room.channels.filter(retired_at=None).exclude(config=None).select_related("config").order_by("name", "id")
    )
    ways = (_way(found, operation) for found in channels for operation in sorted(_operations(found)))
    return RoomWays(room.slug, room.name, tuple(ways))


def _operations(channel: Channel) -> Iterable[str]:
    return channel.config.operations if channel.config else ()


def _way(channel: Channel, operation: str) -> Way:
    config = channel.config
    assert config is not None
    query = f"room={channel.room.slug}&channel={channel.slug}&operation={operation}"
    exact = config.resource or config.resource_pattern
    return Way(f"{reverse('new')}?{query}", words.operation(operation), channel.name, config.account, exact)
