"""Writing a proposal: a new draft, and changes to one. Whatever goes wrong, the typed text is shown again."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from approvals.domain.errors import NotFound, Refusal, StaleRevision
from approvals.models import Channel, ChannelConfig, Draft, User
from approvals.models.clock import database_now
from approvals.permissions import Verb, require
from approvals.selectors import queue as reads
from approvals.selectors import rooms
from approvals.services import propose as proposing
from approvals.services import rendering, revise
from approvals.services.idempotency import Replay
from approvals.services.propose import Proposal
from approvals.services.revise import KEEP, Changes
from approvals.web import numbers, once, respond, writing
from approvals.web.access import actor_of, private
from approvals.web.pages import edit_conflict, proposal
from approvals.web.pages.actions import REVISABLE
from approvals.web.pages.reader import Reader
from approvals.web.views.answers import reader_of
from approvals.web.writing import Written


@require_http_methods(["GET", "HEAD", "POST"])
@private
def new(request: HttpRequest) -> HttpResponse:
    """Choose a channel and an operation, then write."""
    if request.method == "POST":
        return _propose(request)
    copied, corrected = _named(request, "copy"), _named(request, "corrects")
    source = corrected or copied
    if source is None and "channel" not in request.GET:
        members = reads.memberships(_user(request))
        return respond.page(request, "new.html", {"page": proposal.choices(members)})
    channel, config, operation = _way(request, source)
    words = copied or corrected
    start = _copy_of(words, request) if words else writing.of_schema(_schema(config, operation), mode=_mode(request))
    corrects = str(corrected.pk) if corrected else ""
    written = replace(start, here=request.get_full_path(), corrects=corrects)
    return _show_new(request, channel, config, operation, written, proposal.Source(copied, corrected))


@require_http_methods(["GET", "HEAD", "POST"])
@private
def edit(request: HttpRequest, draft_id: int) -> HttpResponse:
    """Change a draft's bytes; a save that changes none is no revision."""
    reader = reader_of(request, draft_id)
    require(reader.actor, Verb.REVISE, draft=reader.draft)
    if request.method == "POST":
        return _revise(request, reader)
    if reader.draft.state not in REVISABLE:
        messages.info(request, f"{reader.draft.reference} cannot be edited any more.")
        return HttpResponseRedirect(reverse("draft", args=[draft_id]))
    return _show_edit(request, reader, _stored(reader, mode=_mode(request), here=request.path))


def _propose(request: HttpRequest) -> HttpResponse:
    channel, config, operation = _way(request, None)
    written = writing.with_kinds(writing.posted(request.POST), {}, _schema(config, operation))
    corrected = _number(request, written.corrects)
    way = {"room": channel.room.slug, "channel": channel.slug, "operation": operation}
    here = {"corrects": str(corrected.pk), "operation": operation} if corrected else way
    written = replace(written, here=f"{reverse('new')}?{urlencode(here)}")
    try:
        draft = proposing.propose(
            actor=actor_of(request),
            clock=database_now,
            room_slug=channel.room.slug,
            proposal=_proposal(written, channel, operation),
            key=once.key_of(request),
        )
    except Replay as replay:
        return HttpResponseRedirect(reverse("draft", args=[replay.subject.removeprefix("draft:")]))
    except NotFound:
        raise
    except Refusal as refusal:
        again, status = written.with_refusal(refusal), respond.status_of(refusal)
        source = proposal.Source(corrected=corrected)
        return _show_new(request, channel, config, operation, again, source, status=status)
    messages.success(request, f"{draft.reference} is {'in review' if written.submit else 'kept as a draft'}.")
    return HttpResponseRedirect(reverse("draft", args=[draft.pk]))


def _proposal(written: Written, channel: Channel, operation: str) -> Proposal:
    return Proposal(
        channel=channel.slug,
        operation=operation,
        payload=written.payload(),
        title=written.title,
        note=written.note,
        resource=written.resource or None,
        submit=written.submit,
        corrects=written.corrects or None,
        not_before=written.moment(),
    )


def _revise(request: HttpRequest, reader: Reader) -> HttpResponse:
    draft = reader.draft
    payload, schema = _payload(reader), _schema_of(draft)
    written = writing.with_kinds(writing.posted(request.POST), payload, schema)
    written = replace(written, here=request.path)
    try:
        revised = revise.revise(
            actor=reader.actor,
            clock=database_now,
            draft_id=draft.pk,
            version=written.version,
            changes=_changes(written, is_live=_is_live(draft)),
            submit=written.submit,
        )
    except NotFound:
        raise
    except StaleRevision:
        return _edit_conflict(request, reader, written)
    except Refusal as refusal:
        return _show_edit(request, reader, written.with_refusal(refusal), status=respond.status_of(refusal))
    messages.success(request, _saved(revised))
    return HttpResponseRedirect(reverse("draft", args=[draft.pk]))


def _changes(written: Written, *, is_live: bool) -> Changes:
    """Gives what was typed. The proposer's words are not among it while they are fixed."""
    payload = written.payload()
    if is_live:
        return Changes(payload=payload)
    return Changes(payload=payload, title=written.title or KEEP, note=written.note)


def _saved(revised: revise.Revised) -> str:
    if revised.changed:
        return f"Saved as revision {revised.draft.version}."
    return "No byte changed, so there is no new revision, and every approval stands."


def _edit_conflict(request: HttpRequest, reader: Reader, written: Written) -> HttpResponse:
    """Shows both texts: the saved one and this one, which would be saved on top of it next."""
    shown = edit_conflict.of_edit(reader, written)
    on_top = replace(written, version=reader.draft.version)
    return _show_edit(request, reader, on_top, conflict=shown, status=409)


def _show_new(
    request: HttpRequest,
    channel: Channel,
    config: ChannelConfig,
    operation: str,
    written: Written,
    source: proposal.Source,
    *,
    status: int = 200,
) -> HttpResponse:
    shown = proposal.writing(channel, config, operation, written, source)
    return respond.page(request, "edit.html", {"page": shown}, current=channel.room.slug, status=status)


def _show_edit(
    request: HttpRequest, reader: Reader, written: Written, *, conflict: Any = None, status: int = 200
) -> HttpResponse:
    draft = reader.draft
    shown = proposal.editing(draft, written, is_live=_is_live(draft), conflict=conflict)
    return respond.page(request, "edit.html", {"page": shown}, current=draft.room.slug, status=status)


def _stored(reader: Reader, *, mode: str, here: str) -> Written:
    draft = reader.draft
    start = writing.of_payload(_payload(reader), mode=mode, schema=_schema_of(draft))
    return replace(start, title=draft.title, note=draft.note, version=draft.version, here=here)


def _named(request: HttpRequest, name: str) -> Draft | None:
    return _number(request, request.GET.get(name, ""))


def _number(request: HttpRequest, text: str) -> Draft | None:
    """Gives the draft of this number, if the person may see it."""
    number = numbers.whole(text)
    return reads.draft_for(actor_of(request), number) if number is not None else None


def _copy_of(copied: Draft, request: HttpRequest) -> Written:
    payload = rendering.binding_of(copied.revisions.get(number=copied.version)).payload
    start = writing.of_payload(payload, mode=_mode(request), schema=_schema_of(copied))
    return replace(start, title=copied.title, note=copied.note, resource=copied.target.resource)


def _way(request: HttpRequest, copied: Draft | None) -> tuple[Channel, ChannelConfig, str]:
    """Gives the channel and operation that are asked for, if this person may propose there."""
    if copied is not None:
        operation = request.GET.get("operation") or copied.operation
        asked = {"room": copied.room.slug, "channel": copied.channel.slug, "operation": operation}
    else:
        asked = request.POST.dict() if request.method == "POST" else request.GET.dict()
    room = rooms.get(actor_of(request), asked.get("room", ""))
    require(actor_of(request), Verb.PROPOSE, room_id=room.pk)
    channels = room.channels.select_related("room", "config__channel").filter(retired_at=None).exclude(config=None)
    channel = next((found for found in channels if found.slug == asked.get("channel")), None)
    operation = asked.get("operation", "")
    if channel is None or channel.config is None or operation not in channel.config.operations:
        raise NotFound()
    return channel, channel.config, operation


def _payload(reader: Reader) -> dict[str, Any]:
    return rendering.binding_of(reader.revision).payload


def _schema_of(draft: Draft) -> dict[str, Any] | None:
    return _schema(draft.channel.config, draft.operation) if draft.channel.config else None


def _schema(config: ChannelConfig, operation: str) -> dict[str, Any] | None:
    schema = config.operations.get(operation, {}).get("schema")
    return schema if isinstance(schema, dict) else None


def _is_live(draft: Draft) -> bool:
    return draft.approval is not None and draft.approval.is_live


def _mode(request: HttpRequest) -> str:
    return request.GET.get("as", "")


def _user(request: HttpRequest) -> User:
    user = request.user
    assert isinstance(user, User)
    return user
