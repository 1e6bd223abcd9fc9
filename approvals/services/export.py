"""Export: audit chains of a room, a draft or everything, as a file that can be verified without the database.

The bytes depend only on the selection and on what the chains hold, so an interrupted download goes on where it
stopped: everything is read and hashed again, and only the rest is sent. The manifest at the end speaks of the whole.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

import rfc8785
from django.conf import settings

from approvals.domain.actor import Actor
from approvals.domain.errors import InvalidPayload
from approvals.models import AuditEvent, Draft, Room
from approvals.permissions import Verb, require
from approvals.services import audit, chain_reading, door, signing, signing_keys
from approvals.services.audit import stamp
from approvals.services.chain_reading import Head, Period, Row
from approvals.services.door import Clock
from approvals.services.export_format import FORMATS, Format, Written

SCHEMA = "reviewroom.audit-export.v1"
KIND = "reviewroom-audit-export+jws"
CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True)
class Selection:
    """What is exported: a room's chains, a draft's, or all of them; of a period; as `jsonl` or `csv`."""

    room: Room | None = None
    draft: Draft | None = None
    since: datetime | None = None
    until: datetime | None = None
    format: str = "jsonl"

    def told(self) -> dict[str, Any]:
        """Gives the selection in plain words; the same in the file's first line, its manifest and the history."""
        return {
            "room": self.room.slug if self.room else None,
            "draft": self.draft.pk if self.draft else None,
            "since": stamp(self.since) if self.since else None,
            "until": stamp(self.until) if self.until else None,
        }


@dataclass
class Export:
    """One export: iterate `chunks` for the bytes; after that `manifest` says what they were."""

    selection: Selection
    actor: Actor
    clock: Clock
    after: tuple[str, int] | None = None
    sha256: Any = field(default_factory=sha256)
    events: int = 0
    chains: int = 0
    size: int = 0

    def chunks(self) -> Iterator[bytes]:
        """Gives the file, or what follows the event `after`: whole lines, many at once."""
        waiting, size, is_sending = [], 0, self.after is None
        for place, line in self._lines():
            self.sha256.update(line)
            self.size += len(line)
            if is_sending:
                waiting.append(line)
                size += len(line)
            is_sending = is_sending or place == self.after
            if size >= CHUNK:
                yield b"".join(waiting)
                waiting, size = [], 0
        yield b"".join(waiting)
        if self._format.has_manifest:
            yield rfc8785.dumps(self.manifest()) + b"\n"

    def only_manifest(self) -> bytes:
        """Gives the manifest of a file that nobody is sent now: of the same bytes as the one sent before."""
        for _, line in self._lines():
            self.sha256.update(line)
            self.size += len(line)
        return rfc8785.dumps(self.manifest())

    def manifest(self) -> dict[str, Any]:
        """Gives the signed manifest of what `chunks` has given, and notes it in the history."""
        facts = {
            "record": "manifest",
            "schema": SCHEMA,
            "issuer": settings.REVIEWROOM_ISSUER,
            "instance": settings.REVIEWROOM_INSTANCE,
            "format": self.selection.format,
            **self.selection.told(),
            "exported_at": stamp(self.clock()),
            "exported_by": self.actor.label,
            "digest": f"sha256:{self.sha256.hexdigest()}",
            "bytes": self.size,
            "events": self.events,
            "chains": self.chains,
            "key_id": signing_keys.kid(signing.key()),
        }
        _note(self.actor, self.clock, "audit.exported", facts)
        return {**facts, "signature": signing.detached(rfc8785.dumps(facts), kind=KIND)}

    @property
    def _format(self) -> Format:
        return FORMATS[self.selection.format]

    def _lines(self) -> Iterator[Written]:
        yield None, self._format.first({"record": "export", "schema": SCHEMA, **self.selection.told()})
        for head, rows in chain_reading.with_events(_chains(self.selection), self._period):
            yield from self._chain(head, rows)

    def _chain(self, head: Head, rows: Iterable[Row]) -> Iterator[Written]:
        first: Row | None = None
        last: Row | None = None
        for row in rows:
            first, last = first or row, row
            self.events += 1
            yield (head.key, row.seq), self._format.event(head.key, row)
        if first is not None and last is not None:
            self.chains += 1
            yield None, self._format.head(head.key, first.seq, last.seq, last.hash)

    @property
    def _period(self) -> Period:
        return Period(self.selection.since, self.selection.until)


def begin(*, actor: Actor, clock: Clock, selection: Selection, after: tuple[str, int] | None = None) -> Export:
    """Authorises an export and notes it in the history, before a byte of it leaves.

    People export a room's chains or a draft's; everything is for the system's own commands. `after` is the last event
    that arrived of an interrupted one. Raises NotFound, Forbidden, InvalidPayload.
    """

    def body() -> Export:
        if selection.draft is not None:
            require(actor, Verb.EXPORT, draft=selection.draft)
        else:
            require(actor, Verb.EXPORT, room_id=selection.room.pk if selection.room else None)
        if after is not None and not _holds(selection, *after):
            raise InvalidPayload("This export has no such event. Name the last one that was received whole.")
        _append(actor, clock(), "audit.export_began", {"format": selection.format, **selection.told()})
        return Export(selection, actor, clock, after)

    return door.run(body, actor=actor, verb=Verb.EXPORT)


def _holds(selection: Selection, chain: str, seq: int) -> bool:
    """True if the event stands in one of the selected chains."""
    draft_id = AuditEvent.objects.filter(chain__key=chain, seq=seq).values_list("draft_id", flat=True)[:1]
    if not draft_id:
        return False
    if selection.draft is not None:
        return chain == audit.draft_chain(selection.draft.pk)
    if selection.room is None or chain == audit.room_chain(selection.room.pk):
        return True
    return chain == f"draft:{draft_id[0]}" and Draft.objects.filter(pk=draft_id[0], room=selection.room).exists()


def _chains(selection: Selection) -> Iterator[Head]:
    if selection.draft is not None:
        return chain_reading.chain_of_draft(selection.draft.pk)
    if selection.room is not None:
        return chain_reading.chains_of_room(selection.room.pk)
    return chain_reading.every_chain()


def _note(actor: Actor, clock: Clock, action: str, facts: dict[str, Any]) -> None:
    wanted = ("format", "room", "draft", "since", "until", "digest", "bytes", "events", "chains")
    told = {name: facts[name] for name in wanted}
    door.run(lambda: _append(actor, clock(), action, told), actor=actor, verb=Verb.EXPORT)


def _append(actor: Actor, now: datetime, action: str, details: dict[str, Any]) -> None:
    audit.append(chain=audit.SYSTEM_CHAIN, actor=actor, action=action, now=now, details=details)
