"""Calls of the contract that this version does not carry out: who may not ask is told so first, the others get 501."""

from typing import NoReturn
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Router

from approvals.api import caller
from approvals.api.bodies import EmptyBody, ReasonBody, ResolveBody
from approvals.api.documents import Problem
from approvals.domain.errors import NotFound, NotImplementedYet
from approvals.models import Delivery
from approvals.permissions import Verb
from approvals.selectors import drafts, rooms
from approvals.services import door
from approvals.services.door import Subject

router = Router(tags=["not in this version"])
ANSWERS = dict.fromkeys((401, 403, 404, 422, 501), Problem)


@router.post("/drafts/{int:draft_id}/cancel", response=ANSWERS, summary="Cancel a waiting delivery")
def cancel(request: HttpRequest, draft_id: int, body: ReasonBody) -> HttpResponse:
    _not_yet(request, draft_id, Verb.CANCEL)


@router.post("/drafts/{int:draft_id}/retry", response=ANSWERS, summary="Send again, or retract again")
def retry(request: HttpRequest, draft_id: int, body: EmptyBody | None = None) -> HttpResponse:
    _not_yet(request, draft_id, Verb.RETRY)


@router.post("/drafts/{int:draft_id}/retract", response=ANSWERS, summary="Undo after publication")
def retract(request: HttpRequest, draft_id: int, body: ReasonBody) -> HttpResponse:
    _not_yet(request, draft_id, Verb.RETRACT)


@router.post("/deliveries/{uuid:delivery_id}/resolve", response=ANSWERS, summary="Record what happened")
def resolve(request: HttpRequest, delivery_id: UUID, body: ResolveBody) -> HttpResponse:
    draft_id = Delivery.objects.filter(pk=delivery_id).values_list("draft_id", flat=True).first()
    if draft_id is None:
        raise NotFound()
    _not_yet(request, draft_id, Verb.RESOLVE)


@router.get("/events", response=ANSWERS, summary="The feed over your drafts")
def feed(request: HttpRequest, after: str | None = None) -> HttpResponse:
    rooms.readable_ids(caller.of(request))
    raise NotImplementedYet()


def _not_yet(request: HttpRequest, draft_id: int, verb: Verb) -> NoReturn:
    """Refuses as the verb would, then because it is not there; the door records either."""
    actor = caller.of(request)

    def body() -> NoReturn:
        drafts.get(actor, draft_id, verb)
        raise NotImplementedYet()

    door.run(body, actor=actor, verb=verb, subject=Subject(draft_id=draft_id))
    raise AssertionError("unreachable")
