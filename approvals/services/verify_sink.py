"""Verify what the audit sink holds: its heartbeats against their signatures and each other, and what they told.

The sink's lines are put into a temporary file of SQLite's, so that memory stays flat however many there are. Events
may stand there twice and out of order; both are lawful. A line that a crash cut off is counted and passed over.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import rfc8785
from joserfc.jwk import OKPKey

from approvals.services import signing
from approvals.services.heartbeat import KIND
from approvals.services.verify_chains import Fault, Kind, Mark

TABLES = """
CREATE TABLE event (id TEXT PRIMARY KEY, digest BLOB, class TEXT) WITHOUT ROWID;
CREATE TABLE heartbeat (number INTEGER PRIMARY KEY, digest TEXT, previous TEXT, place TEXT);
CREATE TABLE mark (chain TEXT, seq INTEGER, hash TEXT, heartbeat INTEGER);
CREATE TABLE visited (chain TEXT PRIMARY KEY) WITHOUT ROWID;
"""
Progress = Callable[[int], None]


class SinkRecord:
    """What the sink was told, ready to be asked; `faults` are what is wrong with it by itself."""

    def __init__(self, keys: Iterable[OKPKey] = ()) -> None:
        self.faults: list[Fault] = []
        self.counted: Counter[str] = Counter()
        self._keys = list(keys)
        self._base = sqlite3.connect("", isolation_level=None)  # a temporary file, gone with the connection
        self._base.executescript(f"PRAGMA journal_mode = OFF; {TABLES} BEGIN;")

    def read(self, file: Path, seen: Counter[str], progress: Progress | None = None) -> None:
        """Takes in one file of JSON lines; call it for each file that the sink has put aside."""
        with file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if progress is not None:
                    progress(len(line))
                self._take(line, f"{file.name} line {number}", seen)

    def finish(self) -> None:
        """Compares the heartbeats with each other, once all files are read."""
        self._base.execute("CREATE INDEX mark_of_chain ON mark (chain, seq)")
        self.faults += self._sequence()

    def marks(self, chain: str) -> Iterator[Mark]:
        """Gives what heartbeats told of a chain, by event number, and notes that the chain was there."""
        self._base.execute("INSERT OR IGNORE INTO visited VALUES (?)", [chain])
        found = "SELECT DISTINCT seq, hash, heartbeat FROM mark WHERE chain = ? ORDER BY seq, heartbeat"
        return map(Mark._make, self._base.execute(found, [chain]))

    def unvisited(self) -> Iterator[Fault]:
        """Gives a fault for every chain that heartbeats told of and nobody asked for."""
        missing = "SELECT chain, MAX(seq), MAX(heartbeat) FROM mark WHERE chain NOT IN visited GROUP BY chain"
        for chain, seq, heartbeat in self._base.execute(missing):
            yield Fault(Kind.CUT, f"it is gone: heartbeat {heartbeat} told of its event {seq}.", chain, 1)

    def was_visited(self, chain: str) -> bool:
        return bool(self._base.execute("SELECT 1 FROM visited WHERE chain = ?", [chain]).fetchone())

    def newest(self) -> int:
        """Gives the number of the newest heartbeat; 0 if there is none."""
        return int(self._base.execute("SELECT COALESCE(MAX(number), 0) FROM heartbeat").fetchone()[0])

    def digest_of(self, number: int) -> str | None:
        row = self._base.execute("SELECT digest FROM heartbeat WHERE number = ?", [number]).fetchone()
        return row[0] if row else None

    def not_there(self, undrained: Counter[str]) -> Iterator[Fault]:
        """Gives a fault for every class of which more was counted than arrived and than is still on its way.

        Only where the first heartbeat is there: what came before it may have been counted by an earlier one.
        """
        if self.digest_of(1) is None:
            return
        received = Counter(dict(self._base.execute("SELECT class, COUNT(*) FROM event GROUP BY class")))
        for name, number in sorted(self.counted.items()):
            lost = number - received[name] - undrained[name]
            if lost > 0:
                sentence = f"Heartbeats counted {number} events of the class {name}; the sink lacks {lost} of them."
                yield Fault(Kind.MISSING, sentence)

    def _take(self, line: bytes, place: str, seen: Counter[str]) -> None:
        try:
            payload = json.loads(line)
            event_id, details = str(payload["event_id"]), payload["details"]
            kind = str(details["class"])
        except (ValueError, KeyError, TypeError):
            seen["unreadable lines"] += bool(line.strip())
            return
        digest = sha256(line.strip()).digest()
        known = self._base.execute("SELECT digest FROM event WHERE id = ?", [event_id]).fetchone()
        if known is not None:
            seen["repetitions"] += 1
            if known[0] != digest:
                self._fault(Kind.ALTERED, f"{place}: event {event_id} stands there already with other bytes.")
            return
        seen["sink events"] += 1
        self._base.execute("INSERT INTO event VALUES (?, ?, ?)", [event_id, digest, kind])
        if kind == "heartbeat":
            seen["heartbeats"] += 1
            self._heartbeat(event_id, details, place)

    def _heartbeat(self, event_id: str, details: dict[str, Any], place: str) -> None:
        try:
            self._believe(event_id, details, place)
        except (ValueError, KeyError, TypeError, AttributeError) as exc:
            self._fault(Kind.ALTERED, f"{place}: this heartbeat is not one of ours ({exc}).")

    def _believe(self, event_id: str, details: dict[str, Any], place: str) -> None:
        statement = details["statement"]
        content = rfc8785.dumps(statement)
        digest = f"sha256:{sha256(content).hexdigest()}"
        number, checkpoint = int(statement["number"]), statement["checkpoint"]
        if (details["digest"], statement["event_id"]) != (digest, event_id):
            self._fault(Kind.ALTERED, f"{place}: heartbeat {number} does not match its digest or its event.")
            return
        if not signing.is_signed(str(details["signature"]), content, kind=KIND, keys=self._keys):
            self._fault(Kind.ALTERED, f"{place}: heartbeat {number} is not signed with a key that is known here.")
            return
        if (known := self.digest_of(number)) is not None:
            if known != digest:
                told = f"heartbeat {number} was told twice, and differently: the database was put back, or copied."
                self._fault(Kind.FORKED, f"{place}: {told}")
            return
        row = [number, digest, checkpoint["previous"], place]
        self._base.execute("INSERT INTO heartbeat VALUES (?, ?, ?, ?)", row)
        heads = [(head["chain"], head["seq"], head["hash"], number) for head in checkpoint["heads"]]
        self._base.executemany("INSERT INTO mark VALUES (?, ?, ?, ?)", heads)
        self.counted.update(statement["counts"])

    def _sequence(self) -> Iterator[Fault]:
        last, link = None, None
        rows = self._base.execute("SELECT number, digest, previous, place FROM heartbeat ORDER BY number")
        for number, digest, previous, place in rows:
            if last is not None and number != last + 1:
                told = f"Heartbeats {last + 1} to {number - 1} are missing: not delivered yet, or lost."
                yield Fault(Kind.MISSING, told)
            elif last is not None and previous != link:
                yield Fault(Kind.FORKED, f"{place}: heartbeat {number} does not follow heartbeat {last} as it stands.")
            last, link = number, digest

    def _fault(self, kind: Kind, sentence: str) -> None:
        self.faults.append(Fault(kind, sentence))
