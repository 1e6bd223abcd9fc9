"""Drafts: propose, read, wait, save, and move along."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from ninja import Router

from approvals.api import answers, caller, headers, reading, rehearsal, rendering, statuses, waiting
from approvals.api.bodies import EmptyBody, ProposeBody, ReasonBody, ReviseBody, SubmitBody
from approvals.api.documents import DraftDocument, Page, Problem, Rehearsal, SavedDraft
from approvals.api.observing import expire_if_late
from approvals.api.reading import Limit, Seconds
from approvals.domain.states import DraftState
from approvals.models.clock import database_now
from approvals.permissions import Verb
from approvals.selectors import drafts, rooms
from approvals.services import dispatch as dispatching
from approvals.services import propose as proposing
from approvals.services import revise as revising
from approvals.services import revoke as revoking
from approvals.services.propose import Proposal
from approvals.services.revise import Changes

router = Router(tags=["drafts"])
CURSOR = "drafts"
PROPOSED = {200: Rehearsal, 201: DraftDocument, **statuses.DECIDES}
SAVED = {200: SavedDraft, 428: Problem, **statuses.DECIDES}


@router.post("/drafts", response=PROPOSED, summary="Propose; with ?dry_run=1 only check", openapi_extra=headers.KEYED)
@answers.replayable(Verb.PROPOSE)
def propose(request: HttpRequest, body: ProposeBody, dry_run: bool = False) -> HttpResponse:
    reading.only(request, "dry_run")
    draft = proposing.propose(
        actor=caller.of(request),
        clock=database_now,
        room_slug=body.room,
        proposal=_proposal(body),
        key=reading.idempotency_key(request, status=201),
        dry_run=dry_run,
    )
    if dry_run:
        return answers.of_document(rehearsal.of(draft, body.payload))
    return answers.now_of(request, draft.pk, status=201)


@router.get(
    "/drafts", response={200: Page[DraftDocument], **statuses.READS}, summary="Drafts you may see, newest first"
)
def list_drafts(
    request: HttpRequest,
    room: str | None = None,
    state: DraftState | None = None,
    channel: str | None = None,
    cursor: str | None = None,
    limit: Limit = 50,
) -> HttpResponse:
    reading.only(request, "room", "state", "channel", "cursor", "limit")
    actor, now = caller.of(request), database_now()
    room_id = rooms.get(actor, room).pk if room is not None else None
    before = reading.cursor(cursor, kind=CURSOR)
    rows = drafts.page(actor, now=now, limit=limit + 1, room_id=room_id, channel=channel, state=state, before=before)
    after = reading.cursor_for(rows[limit - 1].pk, kind=CURSOR) if len(rows) > limit else None
    items = rendering.page(rows[:limit], now)
    return answers.of_document(Page[DraftDocument](items=items, next_cursor=after))


@router.get(
    "/drafts/{int:draft_id}",
    response={200: DraftDocument, 304: None, **statuses.READS},
    summary="A draft; with If-None-Match and ?wait= its next change",
    openapi_extra=headers.IF_NONE_MATCH,
)
def read(request: HttpRequest, draft_id: int, wait: Seconds = 0) -> HttpResponse:
    reading.only(request, "wait")
    actor, seen = caller.of(request), request.headers.get("If-None-Match", "").removeprefix("W/")
    draft = drafts.get(actor, draft_id)
    waits = wait and seen == answers.etag(draft)
    placed = not waits or waiting.for_change(draft_id, seen, seconds=wait)
    if expire_if_late(draft.approval) or wait:
        draft = drafts.get(actor, draft_id)
    if seen in (answers.etag(draft), "*"):
        return _unchanged(answers.etag(draft), placed)
    return answers.of_draft(request, draft)


@router.put(
    "/drafts/{int:draft_id}",
    response=SAVED,
    summary="Save changes made on the version If-Match names",
    openapi_extra=headers.IF_MATCH,
)
def save(request: HttpRequest, draft_id: int, body: ReviseBody) -> HttpResponse:
    reading.only(request)
    actor = caller.of(request)
    fields = {name: getattr(body, name) for name in body.model_fields_set if name != "submit"}
    saved = revising.revise(
        actor=actor,
        clock=database_now,
        draft_id=draft_id,
        version=reading.edited_version(request),
        changes=Changes(**fields),
        submit=body.submit,
    )
    return answers.of_draft(request, drafts.get(actor, draft_id), kind=SavedDraft, changed=saved.changed)


@router.post(
    "/drafts/{int:draft_id}/submit",
    response=statuses.MOVES,
    summary="Bring the newest revision before the room",
    openapi_extra=headers.KEYED,
)
@answers.replayable(Verb.SUBMIT)
def submit(request: HttpRequest, draft_id: int, body: SubmitBody | None = None) -> HttpResponse:
    version = body.version if body else None
    revising.submit(version=version, **_verb(request, draft_id))
    return answers.now_of(request, draft_id)


@router.post(
    "/drafts/{int:draft_id}/withdraw",
    response=statuses.MOVES,
    summary="Take a draft off the table",
    openapi_extra=headers.KEYED,
)
@answers.replayable(Verb.WITHDRAW)
def withdraw(request: HttpRequest, draft_id: int, body: ReasonBody) -> HttpResponse:
    revoking.withdraw(reason=body.reason, **_verb(request, draft_id))
    return answers.now_of(request, draft_id)


@router.post(
    "/drafts/{int:draft_id}/dispatch",
    response=statuses.MOVES,
    summary="Send an approved draft of a manual channel",
    openapi_extra=headers.KEYED,
)
@answers.replayable(Verb.DISPATCH)
def dispatch(request: HttpRequest, draft_id: int, body: EmptyBody | None = None) -> HttpResponse:
    dispatching.dispatch(**_verb(request, draft_id))
    return answers.now_of(request, draft_id)


def _verb(request: HttpRequest, draft_id: int) -> dict[str, Any]:
    reading.only(request)
    key = reading.idempotency_key(request)
    return {"actor": caller.of(request), "clock": database_now, "draft_id": draft_id, "key": key}


def _proposal(body: ProposeBody) -> Proposal:
    return Proposal(
        channel=body.channel,
        operation=body.operation,
        payload=body.payload,
        title=body.title or "",
        resource=body.resource,
        note=body.note or "",
        context=body.context,
        submit=body.submit,
        acts_for=body.acts_for,
        corrects=body.corrects,
        not_before=reading.moment(body.not_before, pointer="/not_before"),
    )


def _unchanged(etag: str, placed: bool) -> HttpResponse:
    response = HttpResponseNotModified(headers={"ETag": etag, "Cache-Control": "private, no-cache"})
    if not placed:
        response["Retry-After"] = str(waiting.RETRY_AFTER_SECONDS)
    return response
