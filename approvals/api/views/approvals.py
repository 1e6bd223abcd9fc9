"""Approvals: read one, read the claim about it, decide, take back, revoke."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Router

from approvals.api import answers, caller, headers, reading, rendering, statuses
from approvals.api.bodies import DecideBody, EmptyBody, ReasonBody
from approvals.api.documents import ApprovalDocument, Claim, DecidedDraft
from approvals.api.observing import expire_if_late
from approvals.domain.gate import Verdict
from approvals.models import Approval
from approvals.models.clock import database_now
from approvals.permissions import Verb
from approvals.selectors import drafts
from approvals.selectors.counting import standings
from approvals.services import decide as deciding
from approvals.services import revoke as revoking
from approvals.services import signing
from approvals.services.decide import Shown

router = Router(tags=["approvals"])
JWT = "application/jwt"
CLAIM_TYPE = "approval-claim+jwt"


@router.get("/approvals/{uuid:approval_id}", response={200: ApprovalDocument, **statuses.READS}, summary="An approval")
def read_approval(request: HttpRequest, approval_id: UUID) -> HttpResponse:
    reading.only(request)
    return answers.of_document(rendering.approval(_observed(request, approval_id), database_now()))


@router.get(
    "/approvals/{uuid:approval_id}/claim",
    response={200: Claim, **statuses.READS},
    summary="The approval claim: facts for other services",
    openapi_extra={"responses": {200: {"content": {JWT: {"schema": {"type": "string"}}}}}},
)
def read_claim(request: HttpRequest, approval_id: UUID) -> HttpResponse:
    """Answers plain JSON or, to `Accept: application/jwt`, the same signed with a key of /.well-known/jwks.json."""
    reading.only(request)
    approval = _observed(request, approval_id)
    people = {decision.reviewer_id for decision in approval.decisions.all()}
    standing = standings(approval.draft.room_id, approval.draft_id, people)
    claim = rendering.claim(approval, standing, database_now())
    response = _signed(claim) if _wants_jwt(request) else answers.of_document(claim)
    response["Vary"] = "Accept"
    return response


@router.post(
    "/approvals/{uuid:approval_id}/decisions",
    response={200: DecidedDraft, **statuses.DECIDES},
    summary="Decide on exactly what was shown",
    openapi_extra=headers.KEYED,
)
@answers.replayable(Verb.DECIDE)
def decide(request: HttpRequest, approval_id: UUID, body: DecideBody) -> HttpResponse:
    reading.only(request)
    decided = deciding.decide(
        actor=caller.of(request),
        clock=database_now,
        shown=Shown(approval_id, body.version, body.digest),
        verdict=Verdict(body.verdict),
        comment=body.comment,
        key=reading.idempotency_key(request),
    )
    return answers.decided(request, decided.draft.pk, approval_id=approval_id, recorded=decided.recorded)


@router.post(
    "/approvals/{uuid:approval_id}/decisions/take-back",
    response=statuses.MOVES,
    summary="Take your own decision back",
    openapi_extra=headers.KEYED,
)
@answers.replayable(Verb.TAKE_BACK)
def take_back(request: HttpRequest, approval_id: UUID, body: EmptyBody | None = None) -> HttpResponse:
    draft = deciding.take_back(**_verb(request, approval_id))
    return answers.now_of(request, draft.pk)


@router.post(
    "/approvals/{uuid:approval_id}/revoke",
    response=statuses.MOVES,
    summary="Take an approval away",
    openapi_extra=headers.KEYED,
)
@answers.replayable(Verb.REVOKE)
def revoke(request: HttpRequest, approval_id: UUID, body: ReasonBody) -> HttpResponse:
    draft = revoking.revoke(reason=body.reason, **_verb(request, approval_id))
    return answers.now_of(request, draft.pk)


def _verb(request: HttpRequest, approval_id: UUID) -> dict[str, Any]:
    reading.only(request)
    key = reading.idempotency_key(request)
    return {"actor": caller.of(request), "clock": database_now, "approval_id": approval_id, "key": key}


def _observed(request: HttpRequest, approval_id: UUID) -> Approval:
    found = drafts.approval(caller.of(request), approval_id)
    return drafts.approval(caller.of(request), approval_id) if expire_if_late(found) else found


def _wants_jwt(request: HttpRequest) -> bool:
    return request.get_preferred_type(["application/json", JWT]) == JWT


def _signed(claim: Claim) -> HttpResponse:
    observed = int(claim.observed_at.timestamp())
    registered = {
        "iss": claim.issuer,
        "sub": f"approval:{claim.approval_id}",
        "iat": observed,
        "exp": observed + claim.max_age_seconds,
    }
    token = signing.sign({**claim.model_dump(mode="json"), **registered}, kind=CLAIM_TYPE)
    return HttpResponse(token, content_type=JWT)
