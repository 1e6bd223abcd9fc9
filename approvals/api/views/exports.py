"""Exports of audit chains: streamed, signed, and resumed by naming the last event that arrived.

A GET that leaves something behind: who took a copy of the history is itself in the history.
"""

import re
from datetime import datetime
from typing import Literal

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Query, Router

from approvals.api import caller, reading, statuses
from approvals.domain.errors import InvalidPayload, NotFound
from approvals.models import Draft
from approvals.models.clock import database_now
from approvals.selectors import rooms
from approvals.services import export
from approvals.services.export import Export, Selection

router = Router(tags=["exports"])
PARAMETERS = ("room", "draft", "since", "until", "format")
CURSOR = re.compile(r"([a-z]{1,16}(?::[0-9]{1,18})?)/([1-9][0-9]{0,17})")
TYPES = {"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8"}
Form = Literal["jsonl", "csv"]


@router.get(
    "/exports/audit",
    response={200: str, **statuses.READS},
    summary="A room's or a draft's audit chains as a file",
    openapi_extra={"responses": {200: {"content": {kind: {"schema": {"type": "string"}} for kind in TYPES.values()}}}},
)
def export_audit(
    request: HttpRequest,
    room: str | None = None,
    draft: int | None = None,
    since: str | None = None,
    until: str | None = None,
    format: Form = "jsonl",  # noqa: A002  the parameter's name
    cursor: str | None = Query(None, description="The last event that arrived, as chain/seq."),
) -> StreamingHttpResponse:
    """Streams one record a line, the signed manifest last; of a CSV, ask /v1/exports/audit/manifest for it.

    Without `until` it ends now, and the first line says when that was. An interrupted download goes on with the same
    parameters, that `until`, and `cursor` = chain/seq of the last event that arrived whole: `draft:12/7`.
    """
    reading.only(request, *PARAMETERS, "cursor")
    made = _begin(request, _selection(room, draft, (since, until), format), cursor)
    response = StreamingHttpResponse(made.chunks(), content_type=TYPES[format])
    response["Content-Disposition"] = f'attachment; filename="{_name(made.selection)}"'
    return response


@router.get(
    "/exports/audit/manifest", response={200: dict, **statuses.READS}, summary="The signed manifest of an export"
)
def read_manifest(
    request: HttpRequest,
    until: str,
    room: str | None = None,
    draft: int | None = None,
    since: str | None = None,
    format: Form = "csv",  # noqa: A002  the parameter's name
) -> HttpResponse:
    """Reads again what such an export gives, sends none of it, and answers the manifest alone."""
    reading.only(request, *PARAMETERS)
    made = _begin(request, _selection(room, draft, (since, until), format), None)
    return HttpResponse(made.only_manifest(), content_type="application/json")


def _begin(request: HttpRequest, selection: Selection, cursor: str | None) -> Export:
    return export.begin(
        actor=caller.of(request), clock=database_now, selection=selection, after=_place(cursor) if cursor else None
    )


def _selection(room: str | None, draft: int | None, period: tuple[str | None, str | None], form: Form) -> Selection:
    if room is None and draft is None:
        raise InvalidPayload("Name a room or a draft: /v1/exports/audit?room=facilities.", pointer="/room")
    since, until = (_moment(text, name) for text, name in zip(period, ("since", "until"), strict=True))
    now = database_now()
    if until is not None and until > now:
        raise InvalidPayload("'until' is in the future: what is not yet there cannot be exported.", pointer="/until")
    found = rooms.find(room) if room is not None else None
    return Selection(found, _draft(draft, found.pk if found else None), since, until or now, form)


def _draft(number: int | None, room_id: int | None) -> Draft | None:
    if number is None:
        return None
    found = Draft.objects.filter(pk=number).first() if 0 < number < 2**63 else None
    if found is None or room_id not in (None, found.room_id):
        raise NotFound()
    return found


def _moment(text: str | None, name: str) -> datetime | None:
    found = reading.moment(text, pointer=f"/{name}")
    if found is not None and found.tzinfo is None:
        raise InvalidPayload(f"'{name}' needs its UTC offset, like 2026-11-01T01:30:00-04:00.", pointer=f"/{name}")
    return found


def _place(cursor: str) -> tuple[str, int]:
    found = CURSOR.fullmatch(cursor)
    if found is None:
        raise InvalidPayload("A cursor is the chain and the number of an event, like draft:12/7.", pointer="/cursor")
    return found[1], int(found[2])


def _name(selection: Selection) -> str:
    what = f"draft-{selection.draft.pk}" if selection.draft else f"room-{selection.room.slug}" if selection.room else ""
    return f"audit-{what}.{selection.format}"
