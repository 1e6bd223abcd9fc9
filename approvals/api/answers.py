"""From documents to responses, and the answers that many calls share."""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from pydantic import BaseModel

from approvals.api import caller, links, rendering
from approvals.api.documents import DecidedDraft
from approvals.models import Draft
from approvals.models.clock import database_now
from approvals.permissions import Verb
from approvals.selectors import drafts
from approvals.services import door
from approvals.services.door import Subject
from approvals.services.idempotency import Replay

Call = Callable[..., HttpResponse]


def of_document(document: BaseModel, *, status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    """Gives a document as JSON. Numbers stay as they are, and no text is escaped that need not be."""
    body = json.dumps(document.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":"))
    return HttpResponse(body, content_type="application/json", status=status, headers=headers)


def etag(draft: Draft) -> str:
    return f'"{draft.version}.{draft.seq}"'


def of_draft(request: HttpRequest, draft: Draft, *, status: int = 200, **more: Any) -> HttpResponse:
    """Gives a draft that a selector has read whole, with its ETag; `more` joins its members."""
    document = rendering.draft(draft, database_now(), **more)
    headers = {"ETag": etag(draft), "Cache-Control": "private, no-cache"}
    if status == 201:
        headers["Location"] = links.draft(draft.pk)
    return of_document(document, status=status, headers=headers)


def now_of(request: HttpRequest, draft_id: int, *, status: int = 200) -> HttpResponse:
    """Gives a draft read afresh."""
    return of_draft(request, drafts.get(caller.of(request), draft_id), status=status)


def decided(
    request: HttpRequest, draft_id: int, *, approval_id: Any, recorded: bool, status: int = 200
) -> HttpResponse:
    """Gives a draft read afresh, with the caller's standing decision on one of its approvals."""
    actor = caller.of(request)
    draft = drafts.get(actor, draft_id)
    decision = drafts.newest_decision(approval_id, actor.person_id)
    assert decision is not None
    more = {"kind": DecidedDraft, "decision": rendering.decision(decision), "recorded": recorded}
    return of_draft(request, draft, status=status, **more)


def replayable(verb: Verb) -> Callable[[Call], Call]:
    """Answers a repeated Idempotency-Key with the current representation, the first status, and a header that says so.

    The caller's right to `verb` is asked again, as of now, before anything is told.
    """

    def decorate(view: Call) -> Call:
        @wraps(view)
        def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            try:
                return view(request, *args, **kwargs)
            except Replay as replay:
                return _replayed(request, replay, verb, kwargs)

        return wrapped

    return decorate


def _replayed(request: HttpRequest, replay: Replay, verb: Verb, kwargs: dict[str, Any]) -> HttpResponse:
    actor, draft_id = caller.of(request), int(replay.subject.removeprefix("draft:"))
    door.run(lambda: drafts.get(actor, draft_id, verb), actor=actor, verb=verb, subject=Subject(draft_id=draft_id))
    if verb == Verb.DECIDE:
        response = decided(request, draft_id, approval_id=kwargs["approval_id"], recorded=True, status=replay.status)
    else:
        response = now_of(request, draft_id, status=replay.status)
    response["Idempotency-Replayed"] = "true"
    return response
