"""The one call of the contract that this version does not carry out."""

from django.http import HttpRequest, HttpResponse
from ninja import Router

from approvals.api import caller, statuses
from approvals.api.documents import Problem
from approvals.domain.errors import NotImplementedYet
from approvals.selectors import rooms

router = Router(tags=["not in this version"])


@router.get("/events", response={501: Problem, **statuses.ANY}, summary="The feed over your drafts")
def feed(request: HttpRequest, after: str | None = None) -> HttpResponse:
    """Answers 501; who may not read at all is told so first."""
    rooms.readable_ids(caller.of(request))
    raise NotImplementedYet()
