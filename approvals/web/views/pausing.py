"""Pausing and resuming a room or one of its channels, for operators; the typed reason survives a refusal."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from approvals.domain.errors import InvalidPayload
from approvals.models import Channel, Room
from approvals.models.clock import database_now
from approvals.selectors import rooms
from approvals.services import pause as pausing
from approvals.web import kept, respond
from approvals.web.access import actor_of, private
from approvals.web.pages.pausing import Typed
from approvals.web.views import queue


@require_POST
@private
def pause_room(request: HttpRequest, slug: str) -> HttpResponse:
    room, reason = rooms.get(actor_of(request), slug), _reason(request)

    def call() -> Room:
        return pausing.pause_room(actor=actor_of(request), clock=database_now, room=room, reason=reason)

    return _carry_out(request, slug, "", call, f"Sending is paused in {room.name}.")


@require_POST
@private
def resume_room(request: HttpRequest, slug: str) -> HttpResponse:
    room = rooms.get(actor_of(request), slug)

    def call() -> Room:
        return pausing.resume_room(actor=actor_of(request), clock=database_now, room=room)

    return _carry_out(request, slug, "", call, f"{room.name} sends again. Channels paused by themselves stay paused.")


@require_POST
@private
def pause_channel(request: HttpRequest, slug: str, channel: str) -> HttpResponse:
    found, reason = _channel(request, slug, channel), _reason(request)

    def call() -> Channel:
        return pausing.pause_channel(actor=actor_of(request), clock=database_now, channel=found, reason=reason)

    return _carry_out(request, slug, channel, call, f"Sending by {found.name} is paused.")


@require_POST
@private
def resume_channel(request: HttpRequest, slug: str, channel: str) -> HttpResponse:
    found = _channel(request, slug, channel)

    def call() -> Channel:
        return pausing.resume_channel(actor=actor_of(request), clock=database_now, channel=found)

    return _carry_out(request, slug, channel, call, f"{found.name} sends again.")


def _carry_out(request: HttpRequest, slug: str, channel: str, call: Callable[[], object], told: str) -> HttpResponse:
    try:
        call()
    except InvalidPayload as refusal:
        typed = Typed(channel, _reason(request), str(refusal))
        return queue.show_room(request, slug, typed=typed, status=respond.status_of(refusal))
    messages.success(request, told)
    return HttpResponseRedirect(reverse("room", args=[slug]))


def _channel(request: HttpRequest, slug: str, channel: str) -> Channel:
    """Gives a channel of a room this person may read."""
    rooms.get(actor_of(request), slug)
    return rooms.find_channel(slug, channel)


def _reason(request: HttpRequest) -> str:
    return kept.clean(request.POST.get("reason", ""))
