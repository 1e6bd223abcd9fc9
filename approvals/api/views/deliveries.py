"""What can be done about a delivery: cancel, try again, retract, and record what a person found at the remote."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Router

from approvals.api import answers, caller, headers, reading, statuses
from approvals.api.bodies import EmptyBody, ReasonBody, ResolveBody
from approvals.models.clock import database_now
from approvals.permissions import Verb
from approvals.services import cancel as cancelling
from approvals.services import resolve as resolving
from approvals.services import retract as retracting
from approvals.services import retry as retrying
from approvals.services.resolve import Finding

router = Router(tags=["deliveries"])


@router.post(
    "/drafts/{int:draft_id}/cancel",
    response=statuses.MOVES,
    summary="End a delivery that waits for its next attempt",
    openapi_extra=headers.KEYED,
)
@answers.replayable(Verb.CANCEL)
def cancel(request: HttpRequest, draft_id: int, body: ReasonBody) -> HttpResponse:
    """Nothing of it is on its way, so nothing can arrive later. A cancelled retraction leaves its object public."""
    cancelling.cancel(reason=body.reason, **_verb(request, draft_id))
    return answers.now_of(request, draft_id)


@router.post(
    "/drafts/{int:draft_id}/retry",
    response=statuses.MOVES,
    summary="Try a failed delivery again, send what is proven absent, or retract again",
    openapi_extra=headers.KEYED,
)
@answers.replayable(Verb.RETRY)
def retry(request: HttpRequest, draft_id: int, body: EmptyBody | None = None) -> HttpResponse:
    """The same delivery under the same id, through its gate. What may have arrived is never sent on a guess."""
    retrying.retry(**_verb(request, draft_id))
    return answers.now_of(request, draft_id)


@router.post(
    "/drafts/{int:draft_id}/retract",
    response=statuses.MOVES,
    summary="Undo what was published",
    openapi_extra=headers.KEYED,
)
@answers.replayable(Verb.RETRACT)
def retract(request: HttpRequest, draft_id: int, body: ReasonBody) -> HttpResponse:
    """A worker undoes it; `retracted` is only what reads back as gone. Asking twice sends once."""
    retracting.retract(reason=body.reason, **_verb(request, draft_id))
    return answers.now_of(request, draft_id)


@router.post(
    "/deliveries/{uuid:delivery_id}/resolve",
    response=statuses.MOVES,
    summary="Record what was found at the remote",
    openapi_extra=headers.KEYED,
)
@answers.replayable(Verb.RESOLVE)
def resolve(request: HttpRequest, delivery_id: UUID, body: ResolveBody) -> HttpResponse:
    """Settles an unknown or held delivery by a person's word, never an author's. Of a retraction `delivered` is gone.

    `not_delivered` is refused while a stopped worker may still wake and send.
    """
    reading.only(request)
    draft = resolving.resolve(
        actor=caller.of(request),
        clock=database_now,
        delivery_id=delivery_id,
        finding=Finding(body.outcome, body.evidence, body.remote_id),
        key=reading.idempotency_key(request),
    )
    return answers.now_of(request, draft.pk)


def _verb(request: HttpRequest, draft_id: int) -> dict[str, Any]:
    reading.only(request)
    key = reading.idempotency_key(request)
    return {"actor": caller.of(request), "clock": database_now, "draft_id": draft_id, "key": key}
