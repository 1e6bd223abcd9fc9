"""Refusals as RFC 9457 problem documents: one table from code to status, and `current` built afresh."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse

from approvals.api import links
from approvals.domain.actor import Actor
from approvals.domain.errors import Duplicate, NotImplementedYet, OpenDraftExists, Refusal
from approvals.models.clock import database_now
from approvals.selectors import drafts

CONTENT_TYPE = "application/problem+json"
STATUS: dict[str, int] = {
    "stale_revision": 409,
    "already_decided": 409,
    "superseded": 409,
    "revoked": 409,
    "expired": 409,
    "consumed": 409,
    "wrong_state": 409,
    "stale_view": 409,
    "open_draft_exists": 409,
    "duplicate": 409,
    "unsupported": 409,
    "dispatch_claim_held": 409,
    "target_changed": 409,
    "paused": 409,
    "idempotency_in_progress": 409,
    "not_eligible": 403,
    "forbidden": 403,
    "not_found": 404,
    "unauthenticated": 401,
    "idempotency_mismatch": 422,
    "invalid_payload": 422,
    "precondition_required": 428,
    "too_large": 413,
    "rate_limited": 429,
    "unavailable": 503,
}
HEADERS = {
    "unauthenticated": {"WWW-Authenticate": 'Bearer realm="Review Room"'},
    "idempotency_in_progress": {"Retry-After": "2"},
    "rate_limited": {"Retry-After": "60"},
    "unavailable": {"Retry-After": "30"},
}
MEMBERS = ("pointer", "line", "column", "reason")
NOWHERE = {"draft": None, "version": None, "digest": None, "state": None, "approval": None, "link": None}


def of_refusal(request: HttpRequest, refusal: Refusal, **members: Any) -> HttpResponse:
    """Gives the answer for a refusal; `members` are added to its document."""
    status = 501 if isinstance(refusal, NotImplementedYet) else STATUS[refusal.code]
    told = {name: getattr(refusal, name) for name in MEMBERS if getattr(refusal, name) is not None}
    if status == 409:
        told |= _conflict(getattr(request, "auth", None), refusal)
    headers = HEADERS.get(refusal.code, {}) if status != 501 else {}
    return document(status, refusal.code, str(refusal), headers=headers, **told, **members)


def document(
    status: int, code: str, detail: str, *, headers: dict[str, str] | None = None, **members: Any
) -> HttpResponse:
    """Gives a problem document. Its `type` is a name, not an address: clients compare `code`."""
    body = {
        "type": f"urn:reviewroom:problem:{code}",
        "title": code.replace("_", " ").capitalize(),
        "status": status,
        "detail": detail,
        "code": code,
        **members,
    }
    return JsonResponse(body, status=status, content_type=CONTENT_TYPE, headers=headers)


def _conflict(actor: Actor | None, refusal: Refusal) -> dict[str, Any]:
    current = _current(actor, refusal.draft_id)
    told: dict[str, Any] = {"current": current}
    if refusal.successor_id is not None:
        told["successor"] = {"approval": refusal.successor_id, "link": links.approval(refusal.successor_id)}
    if isinstance(refusal, OpenDraftExists | Duplicate) and current["draft"] is not None:
        told["other"] = {"draft": current["draft"], "link": current["link"]}
    return told


def _current(actor: Actor | None, draft_id: int | None) -> dict[str, Any]:
    """Reads where the draft stands after the rollback, as far as this actor may see it."""
    found = drafts.current(actor, draft_id, database_now()) if actor and draft_id else None
    if found is None:
        return NOWHERE
    facts = {name: getattr(found, name) for name in ("draft", "version", "digest", "state", "approval")}
    return {**facts, "link": links.draft(found.draft)}
