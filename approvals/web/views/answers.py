"""How the views of one draft answer: its page or fragment, what was done, what was refused."""

from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from approvals.domain.errors import Refusal
from approvals.domain.gate import is_expired
from approvals.models import Draft, User
from approvals.models.clock import database_now
from approvals.selectors import queue as reads
from approvals.services import expire
from approvals.web import kept, respond
from approvals.web.access import actor_of, is_htmx
from approvals.web.pages import conflict
from approvals.web.pages import draft as drafts
from approvals.web.pages.actions import Link
from approvals.web.pages.conflict import Pressed
from approvals.web.pages.draft import Typed
from approvals.web.pages.reader import Reader


def reader_of(request: HttpRequest, draft_id: int) -> Reader:
    """Gives the draft as this person stands to it. An approval past its time is ended by being looked at."""
    actor, user, now = actor_of(request), request.user, database_now()
    assert isinstance(user, User)
    found = reads.draft_for(actor, draft_id)
    if found.approval and found.approval.is_live and is_expired(now, found.approval.expires_at):
        expire.expire(approval_id=found.approval.pk)
        found = reads.draft_for(actor, draft_id)
    return Reader(actor, user, found, now)


def show(request: HttpRequest, reader: Reader, typed: Typed, *, status: int = 200) -> HttpResponse:
    """Gives the item's page or fragment."""
    tab = request.GET.get("tab", "")
    shown = drafts.page(reader, tab=tab, as_hex=request.GET.get("as") == "hex", typed=typed)
    context = {"page": shown, "messages": ()}  # the page says them itself, where focus goes
    return respond.item(request, "draft", context, current=reader.draft.room.slug, status=status)


def done(request: HttpRequest, draft: Draft, told: str) -> HttpResponse:
    """Answers a verb that was carried out: for htmx the item anew, else a redirect, which can be reloaded."""
    if not is_htmx(request):
        messages.success(request, told)
        return HttpResponseRedirect(reverse("draft", args=[draft.pk]))
    reader = reader_of(request, draft.pk)
    return show(request, reader, Typed(done=told, next=next_of(reader)))


def refused(request: HttpRequest, draft_id: int, refusal: Refusal, pressed: Pressed) -> HttpResponse:
    """Answers a verb that was refused: strangers learn nothing, everybody else what happened and what is now."""
    reader = reader_of(request, draft_id)
    if pressed.comment:
        kept.keep(request, draft_id, pressed.comment)
    shown = conflict.page(reader, refusal, pressed)
    status = respond.status_of(refusal)
    return respond.item(request, "conflict", {"conflict": shown}, current=reader.draft.room.slug, status=status)


def again(request: HttpRequest, draft_id: int, typed: Typed, *, status: int) -> HttpResponse:
    """Shows the item once more, with what was typed and what is wrong with it."""
    reader = reader_of(request, draft_id)
    return show(request, reader, replace(typed, done=""), status=status)


def next_of(reader: Reader) -> Link | None:
    members = reads.memberships(reader.user)
    waiting = reads.your_turn(reader.user, members, reader.now).exclude(pk=reader.draft.pk)
    following = waiting.order_by("queue_rank", "due_at", "id").first()
    return Link(following.title, reverse("draft", args=[following.pk]), "arrow-right") if following else None
