"""The reference receiver of audit events: what a sink should do, and what it may do to us.

It takes `POST /events` with the right token, drops repetitions by `event_id`, and keeps what is new as a hash chain:
whoever has the head can tell whether one byte of the history changed. Everything that arrives is remembered too, so
that a test can ask whether each repetition was the same bytes.
"""

import gzip
import hashlib
import hmac
import json
import socket
import struct
import threading
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.support.http_server import Gate

TOKEN = "only-for-tests"
GENESIS = "0" * 64


@dataclass(frozen=True)
class Arrival:
    """One request for one event. `count` is the how manieth request of all it was, from 1."""

    count: int
    event_id: str
    body: bytes
    headers: dict[str, str] = field(repr=False, default_factory=dict)


Fate = Callable[["Receiver", "Arrival"], "int | Trick"]
"""What becomes of a request: a status, or a trick. The event counts as taken for 2xx, and for tricks that say so."""


@dataclass(frozen=True)
class Trick:
    """Something a sink may do other than answer properly; `takes` says whether it keeps the event before."""

    name: str
    takes: bool


HANG = Trick("hang", takes=True)  # keeps it and never answers
RESET = Trick("reset", takes=True)  # keeps it and breaks the connection off
RESET_EARLY = Trick("reset", takes=False)  # breaks off without having kept it
TOO_LONG = Trick("too_long", takes=True)  # announces more than it sends
TOO_SHORT = Trick("too_short", takes=True)  # sends more than it announces, made to look like the next answer


class Receiver:
    """A sink on loopback. `fate` decides about each request; `answering` closed holds all answers up."""

    def __init__(self, fate: Fate = lambda receiver, arrival: 200, *, signing_key: bytes = b"") -> None:
        self.fate = fate
        self.signing_key = signing_key
        self.arrivals: list[Arrival] = []
        self.kept: dict[str, bytes] = {}  # by event id, in the order of their first arrival
        self.head = GENESIS
        self.answering = Gate()
        self.connections = 0
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.receiver = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/events"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.answering.open()
        self._server.stopped.set()
        self._server.shutdown()
        self._server.server_close()

    # What a sink does

    def take(self, headers: dict[str, str], body: bytes) -> "int | Trick":
        """Decides about one request; keeps an event that is new at the end of the chain."""
        if not hmac.compare_digest(headers.get("authorization", ""), f"Bearer {TOKEN}"):
            return 401
        if self.signing_key and not self._is_signed(headers, body):
            return 401
        content = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
        with self._lock:
            arrival = Arrival(len(self.arrivals) + 1, str(json.loads(content)["event_id"]), content, headers)
            self.arrivals.append(arrival)
            fate = self.fate(self, arrival)
            takes = fate.takes if isinstance(fate, Trick) else 200 <= fate < 300
            if takes and arrival.event_id not in self.kept:
                self._keep(arrival)
        return fate

    def _keep(self, arrival: Arrival) -> None:
        self.kept[arrival.event_id] = arrival.body
        self.head = linked(self.head, arrival.body)

    def _is_signed(self, headers: dict[str, str], body: bytes) -> bool:
        content = f"{headers.get('webhook-id')}.{headers.get('webhook-timestamp')}.".encode() + body
        wanted = hmac.digest(self.signing_key, content, hashlib.sha256)
        version, _, given = headers.get("webhook-signature", "").partition(",")
        return version == "v1" and hmac.compare_digest(b64decode(given), wanted)

    # What a test asks

    @property
    def repeats(self) -> Counter[str]:
        """How often each event arrived beyond the first time."""
        seen = Counter(arrival.event_id for arrival in self.arrivals)
        return Counter({event_id: count - 1 for event_id, count in seen.items() if count > 1})

    def faults(self, stored: Iterable[tuple[str, str | None, str]]) -> list[str]:
        """Gives what is wrong with what it got, beside the outbox's (event id, approval, payload) in their order."""
        rows = [(event_id, approval, payload.encode()) for event_id, approval, payload in stored]
        found = [f"{event_id} was lost" for event_id, _, _ in rows if event_id not in self.kept]
        bytes_of = {event_id: payload for event_id, _, payload in rows}
        found += [
            f"{arrival.event_id} arrived as other bytes (request {arrival.count})"
            for arrival in self.arrivals
            if bytes_of.get(arrival.event_id) != arrival.body
        ]
        head = GENESIS
        for body in self.kept.values():
            head = linked(head, body)
        found += [] if head == self.head else ["the chain is broken"]
        return found + self._inversions(rows)

    def _inversions(self, rows: list[tuple[str, str | None, bytes]]) -> list[str]:
        place = {event_id: number for number, event_id in enumerate(self.kept)}
        last: dict[str, int] = {}
        found = []
        for event_id, approval, _ in rows:
            if approval is not None and event_id in place:
                if place[event_id] < last.get(approval, -1):
                    found.append(f"{event_id} overtook an earlier event of its approval")
                last[approval] = place[event_id]
        return found


def linked(head: str, body: bytes) -> str:
    """Gives the head of a chain after one more event."""
    return hashlib.sha256(head.encode() + body).hexdigest()


def signing_secret(key: bytes) -> str:
    """Gives a key as Standard Webhooks writes it."""
    return "whsec_" + b64encode(key).decode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    receiver: Receiver

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.stopped = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that are killed hang up: that is what these tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.receiver.connections += 1

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        fate = self.server.receiver.take(headers, body)
        self.server.receiver.answering.pass_through()
        if isinstance(fate, Trick):
            getattr(self, f"_{fate.name}")()
        else:
            self._answer(fate, b"{}", 2)

    def _answer(self, status: int, content: bytes, length: int) -> None:
        fields = f"Content-Type: application/json\r\nContent-Length: {length}\r\n"
        self.wfile.write(f"HTTP/1.1 {status} Said\r\n{fields}\r\n".encode() + content)

    def _hang(self) -> None:
        self.server.stopped.wait(30)
        self.close_connection = True

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def _too_long(self) -> None:
        self._answer(200, b"{}", 1000)
        self.close_connection = True

    def _too_short(self) -> None:
        self._answer(200, b"{}HTTP/1.1 200 Said\r\nContent-Length: 0\r\n\r\n", 2)

    def log_message(self, *args: object) -> None:
        """Says nothing: the tests ask what arrived."""
