"""What a dry run answers: what would be bound, and what reviewers would be warned of."""

from typing import Any

from approvals.api import rendering
from approvals.api.documents import Rehearsal, WarningDocument
from approvals.domain import binding as bindings
from approvals.domain import visible
from approvals.domain.binding import Corrects, TargetRef
from approvals.models import Draft
from approvals.models.clock import database_now
from approvals.services import corrections, intent


def of(draft: Draft, payload: dict[str, Any]) -> Rehearsal:
    """Gives the answer for a draft that `propose` made and took back; binding is pure, so it is done once more."""
    target = draft.target
    place = TargetRef(target.connector, target.account, target.resource)
    bound = bindings.bind(operation=draft.operation, target=place, payload=payload, corrects=_replaced(draft))
    twin = intent.same_bytes(bound.digest, room=draft.room, now=database_now())
    return Rehearsal(
        dry_run=True,
        room=draft.room.slug,
        target=rendering.target(draft.channel, target),
        operation=draft.operation,
        digest=bound.digest,
        canonical_bytes=len(bound.canonical),
        corrects=draft.corrects_id,
        duplicate_of=twin.pk if twin else None,
        warnings=[
            WarningDocument(pointer=f"/payload{item.pointer}", kind=item.kind, message=item.message, count=item.count)
            for item in visible.warnings(payload)
        ],
    )


def _replaced(draft: Draft) -> Corrects | None:
    """Gives what a correction binds; `propose` has checked that it may."""
    write = corrections.write_of(draft.corrects) if draft.corrects else None
    return Corrects(str(write.pk), write.remote_id) if write else None
