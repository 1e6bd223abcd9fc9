"""A draft's revisions, their exact bytes, and its audit events."""

import base64
import hashlib

from django.http import HttpRequest, HttpResponse
from ninja import Router

from approvals.api import answers, caller, reading, rendering, statuses
from approvals.api.documents import EventDocument, Page, RevisionDocument
from approvals.api.reading import Limit
from approvals.selectors import drafts

router = Router(tags=["history"])
CURSOR = "events"


@router.get(
    "/drafts/{int:draft_id}/revisions/{int:number}",
    response={200: RevisionDocument, **statuses.READS},
    summary="One immutable revision",
)
def read_revision(request: HttpRequest, draft_id: int, number: int) -> HttpResponse:
    reading.only(request)
    return answers.of_document(rendering.revision(drafts.revision(caller.of(request), draft_id, number)))


@router.get(
    "/drafts/{int:draft_id}/revisions/{int:number}/canonical",
    response={200: dict, **statuses.READS},
    summary="The exact bytes that are hashed and approved",
)
def read_canonical(request: HttpRequest, draft_id: int, number: int) -> HttpResponse:
    """Answers the stored bytes as they are, with their SHA-256 in Repr-Digest (RFC 9530)."""
    reading.only(request)
    stored = bytes(drafts.revision(caller.of(request), draft_id, number).canonical)
    digest = base64.b64encode(hashlib.sha256(stored).digest()).decode()
    return HttpResponse(stored, content_type="application/json", headers={"Repr-Digest": f"sha-256=:{digest}:"})


@router.get(
    "/drafts/{int:draft_id}/events",
    response={200: Page[EventDocument], **statuses.READS},
    summary="A draft's history, oldest first",
)
def list_events(request: HttpRequest, draft_id: int, cursor: str | None = None, limit: Limit = 50) -> HttpResponse:
    reading.only(request, "cursor", "limit")
    kind = f"{CURSOR}:{draft_id}"
    after = reading.cursor(cursor, kind=kind) or 0
    rows = drafts.events(caller.of(request), draft_id, after=after, limit=limit + 1)
    following = reading.cursor_for(rows[limit - 1].pk, kind=kind) if len(rows) > limit else None
    items = [rendering.event(row) for row in rows[:limit]]
    return answers.of_document(Page[EventDocument](items=items, next_cursor=following))
