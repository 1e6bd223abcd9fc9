"""The two forms of an export: JSON lines, and CSV that no spreadsheet takes for formulas."""

import csv
import io
import json
import re
from typing import Any, Protocol

import rfc8785

from approvals.services.audit import stamp
from approvals.services.chain_reading import Row

Place = tuple[str, int] | None
Written = tuple[Place, bytes]
"""One line of a file, and the event it holds (chain and number), if it holds one."""

COLUMNS = (
    "chain",
    "seq",
    "at",
    "actor",
    "via",
    "address",
    "action",
    "outcome",
    "reason",
    "draft",
    "correlation_id",
    "details",
    "prev_hash",
    "hash",
    "body",
)
_FORMULA = re.compile(r"\s*[=+\-@|%\uFF1D\uFF0B\uFF0D\uFF20]|[\t\r\n]")
"""What a spreadsheet may take for a formula, or for a cell of its own: also after blanks, and in full width."""


class Format(Protocol):
    """How the lines of an export are written."""

    has_manifest: bool  # at its end; else the manifest is a file of its own

    def first(self, about: dict[str, Any]) -> bytes: ...

    def event(self, chain: str, row: Row) -> bytes: ...

    def head(self, chain: str, first: int, seq: int, link: str) -> bytes: ...


class JsonLines:
    """One record a line: what is exported, each event, the head of each chain after its events, the manifest.

    The body is a string: the exact characters that are hashed, whatever a reader of JSON makes of numbers.
    """

    has_manifest = True

    def first(self, about: dict[str, Any]) -> bytes:
        return rfc8785.dumps(about) + b"\n"

    def event(self, chain: str, row: Row) -> bytes:
        record = {"record": "event", "chain": chain, "seq": row.seq, "hash": row.hash, "prev_hash": row.prev_hash}
        return json.dumps({**record, "body": row.body}, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def head(self, chain: str, first: int, seq: int, link: str) -> bytes:
        return rfc8785.dumps({"record": "head", "chain": chain, "first": first, "seq": seq, "hash": link}) + b"\n"


class Csv:
    """One row an event, all cells quoted (RFC 4180, UTF-8); the manifest is a file of its own."""

    has_manifest = False

    def first(self, about: dict[str, Any]) -> bytes:
        return _row(COLUMNS)

    def event(self, chain: str, row: Row) -> bytes:
        body = json.loads(row.body)
        actor = body.get("actor") or {}
        more = {
            "chain": chain,
            "seq": row.seq,
            "at": stamp(row.at),
            "actor": row.actor,
            "via": actor.get("via", ""),
            "address": actor.get("address", ""),
            "draft": row.draft_id or "",
            "details": json.dumps(body.get("details", {}), ensure_ascii=False),
            "prev_hash": row.prev_hash,
            "hash": row.hash,
            "body": row.body,
        }
        cells = {**{name: body.get(name, "") for name in ("action", "outcome", "reason", "correlation_id")}, **more}
        return _row(harmless(str(cells[name])) for name in COLUMNS)

    def head(self, chain: str, first: int, seq: int, link: str) -> bytes:
        return b""


FORMATS: dict[str, Format] = {"jsonl": JsonLines(), "csv": Csv()}


def harmless(text: str) -> str:
    """Gives a cell that is shown as the text it is: with an apostrophe in front where it could be a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def plain(cell: str) -> str:
    """Gives the text that `harmless` made a cell of."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell


def _row(cells: Any) -> bytes:
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow(cells)
    return line.getvalue().encode()
