"""The lists: your turn, and one room."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from approvals.models import User
from approvals.models.clock import database_now
from approvals.permissions import Verb, may
from approvals.selectors import queue as reads
from approvals.selectors import rooms
from approvals.web import respond
from approvals.web.access import actor_of, private
from approvals.web.pages import inbox as lists
from approvals.web.pages import pausing
from approvals.web.pages.inbox import ALL, Asked


@require_safe
@private
def inbox(request: HttpRequest) -> HttpResponse:
    asked = Asked(request.GET.get("show", ""), request.GET.get("after", ""))
    return _answer(request, asked, current="everything" if asked.show == ALL else "turn")


@require_safe
@private
def room(request: HttpRequest, slug: str) -> HttpResponse:
    return show_room(request, slug)


def show_room(
    request: HttpRequest, slug: str, *, typed: pausing.Typed = pausing.NOTHING, status: int = 200
) -> HttpResponse:
    """Gives a room's page: its queue, and its ways out with what is paused."""
    actor = actor_of(request)
    found = rooms.get(actor, slug)
    asked = Asked(request.GET.get("show", ""), request.GET.get("after", ""), found)
    ways = pausing.ways_out(found, database_now(), may_pause=may(actor, Verb.PAUSE, room_id=found.pk), typed=typed)
    return _answer(request, asked, current=slug, ways=ways, status=status)


def _answer(
    request: HttpRequest, asked: Asked, *, current: str, ways: pausing.WaysOut | None = None, status: int = 200
) -> HttpResponse:
    user = request.user
    assert isinstance(user, User)
    shown = lists.page(user, reads.memberships(user), database_now(), asked)
    return respond.page(request, "inbox.html", {"page": shown, "ways": ways}, current=current, status=status)
