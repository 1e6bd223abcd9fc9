"""Verify an exported file: its manifest and signature first, then the chains in it as those of the database are.

Needs the file and public keys, no database and no network. Memory stays flat: the file is read twice, line by line.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

import rfc8785
from joserfc.jwk import OKPKey

from approvals.services import signing, verify_chains
from approvals.services.export import KIND, SCHEMA
from approvals.services.export_format import plain
from approvals.services.verify_chains import Fault, Kind, Link, Stretch
from approvals.services.verify_sink import SinkRecord

csv.field_size_limit(64 * 1024 * 1024)
SHOWN = ("at", "actor", "action", "outcome", "reason", "correlation_id")
"""Cells of a CSV that repeat the body."""
Progress = Callable[[int], None]
Record = tuple[int, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Exported:
    """A file that claims to be an export. `manifest` of a CSV stands in a file of its own."""

    file: Path
    manifest: Path | None = None

    @property
    def is_csv(self) -> bool:
        with self.file.open("rb") as lines:
            return lines.read(1) != b"{"

    @property
    def manifest_file(self) -> Path:
        return self.manifest or self.file.with_name(f"{self.file.name}.manifest.json")


def faults(
    exported: Exported, keys: Iterable[OKPKey], seen: Counter[str], sink: SinkRecord, progress: Progress | None = None
) -> Iterator[Fault]:
    """Gives every fault of the file: of its manifest, then the first of each chain."""
    manifest, found = _manifest(exported, list(keys))
    yield from found
    about = manifest or _about(exported)
    records = _csv_records(exported.file) if exported.is_csv else _json_records(exported.file)
    chains = 0
    is_period = about.get("since") is not None
    for chain, group in groupby(records, key=lambda record: str(record[1].get("chain"))):
        chains += 1
        if sink.was_visited(chain):
            yield Fault(Kind.REORDERED, "its events stand in two places of the file.", chain)
        stretch = Stretch(chain, (), is_whole=not is_period, goes_on=about.get("until") is not None or is_period)
        stretch.links = _links(group, stretch, progress)
        yield from verify_chains.check(stretch, seen, sink.marks(chain))
    yield from _totals(manifest, seen, chains)
    if not any(about.get(name) for name in ("room", "draft", "since", "until")):
        yield from sink.unvisited()


def _manifest(exported: Exported, keys: list[OKPKey]) -> tuple[dict[str, Any] | None, list[Fault]]:
    """Gives the manifest, if it can be read, and what is wrong with it."""
    digest, size, last = _hashed(exported.file, without_last=not exported.is_csv)
    try:
        text = exported.manifest_file.read_bytes() if exported.is_csv else last
        manifest = json.loads(text)
        if manifest["record"] != "manifest" or manifest["schema"] != SCHEMA:
            raise ValueError("no manifest")
    except (OSError, ValueError, KeyError, TypeError):
        where = f"at {exported.manifest_file}" if exported.is_csv else "at the end of the file"
        return None, [Fault(Kind.CUT, f"There is no manifest {where}: the file is not whole, so its end is unknown.")]
    found = []
    facts = {name: value for name, value in manifest.items() if name != "signature"}
    if not signing.is_signed(str(manifest.get("signature")), rfc8785.dumps(facts), kind=KIND, keys=keys):
        found.append(Fault(Kind.ALTERED, "The manifest is not signed with a key that is known here."))
    if manifest.get("digest") != digest or manifest.get("bytes") != size:
        found.append(Fault(Kind.ALTERED, "The file is not the one that its manifest speaks of: the digests differ."))
    return manifest, found


def _hashed(file: Path, *, without_last: bool) -> tuple[str, int, bytes]:
    """Gives digest and size of a file, or of all its lines but the last, and that line."""
    whole, size, last = sha256(), 0, b""
    with file.open("rb") as lines:
        for line in lines:
            whole.update(last)
            size += len(last)
            last = line
    if not without_last:
        whole.update(last)
        size += len(last)
    return f"sha256:{whole.hexdigest()}", size, last


def _about(exported: Exported) -> dict[str, Any]:
    """Gives what the file says of itself, where no manifest does."""
    if exported.is_csv:
        return {"until": "unknown"}
    with exported.file.open("rb") as lines:
        return _object(lines.readline())


def _json_records(file: Path) -> Iterator[Record]:
    """Gives events and heads with their line numbers."""
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            record = _object(line)
            if record.get("record") in ("event", "head"):
                yield number, record
            elif record.get("record") not in ("export", "manifest"):
                yield number, {"record": "event", "chain": f"line {number}, which is no record"}


def _csv_records(file: Path) -> Iterator[Record]:
    with file.open("rb") as raw, io.TextIOWrapper(raw, encoding="utf-8", errors="replace", newline="") as text:
        for number, row in enumerate(csv.DictReader(text), start=2):
            yield number, {**row, "record": "event"}


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _links(records: Iterable[Record], stretch: Stretch, progress: Progress | None) -> Iterator[Link]:
    """Gives the events of one chain, and notes what its head says when it comes by."""
    for number, record in records:
        if progress is not None:
            progress(1)
        if record["record"] == "head":
            stretch.head = (_whole(record.get("seq")), str(record.get("hash")))
            continue
        prev_hash, own, body = (str(record.get(name)) for name in ("prev_hash", "hash", "body"))
        shown = {name: plain(str(record[name])) for name in SHOWN if name in record}
        yield Link(_whole(record.get("seq")), prev_hash, own, body, f"line {number}", shown)


def _whole(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        return 0


def _totals(manifest: dict[str, Any] | None, seen: Counter[str], chains: int) -> Iterator[Fault]:
    if manifest is None:
        return
    told, found = (manifest.get("events"), manifest.get("chains")), (seen["events"], chains)
    if told != found:
        sentence = f"The manifest tells of {told[0]} events in {told[1]} chains; here are {found[0]} in {found[1]}."
        yield Fault(Kind.MISSING, sentence)
