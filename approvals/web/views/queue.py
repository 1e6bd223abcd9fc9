"""The lists: your turn, and one room."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from approvals.models import User
from approvals.models.clock import database_now
from approvals.selectors import queue as reads
from approvals.selectors import rooms
from approvals.web import respond
from approvals.web.access import actor_of, private
from approvals.web.pages import inbox as lists
from approvals.web.pages.inbox import ALL, Asked


@require_safe
@private
def inbox(request: HttpRequest) -> HttpResponse:
    asked = Asked(request.GET.get("show", ""), request.GET.get("after", ""))
    return _answer(request, asked, current="everything" if asked.show == ALL else "turn")


@require_safe
@private
def room(request: HttpRequest, slug: str) -> HttpResponse:
    found = rooms.get(actor_of(request), slug)
    asked = Asked(request.GET.get("show", ""), request.GET.get("after", ""), found)
    return _answer(request, asked, current=slug)


def _answer(request: HttpRequest, asked: Asked, *, current: str) -> HttpResponse:
    user = request.user
    assert isinstance(user, User)
    shown = lists.page(user, reads.memberships(user), database_now(), asked)
    return respond.page(request, "inbox.html", {"page": shown}, current=current)
