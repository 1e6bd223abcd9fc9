"""A remote on loopback that keeps a ledger: which writes took effect, under which key, and which ran side by side."""

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests.support.http_server import Gate, Posted

LONGEST_HANG_SECONDS = 300.0


class PatientGate(Gate):
    """One that stays closed however long a busy machine takes to come to the line that opens it."""

    def pass_through(self) -> None:
        self._open.wait(LONGEST_HANG_SECONDS)


class Ledger:
    """`POST /items?target=` keeps an item, `GET /items?operation_id=` finds it, `GET /items/<number>` shows it.

    A key that it knows has no second effect while `dedupes` is on. `POST /events` is an audit sink.
    """

    def __init__(self, *, dedupes: bool = False) -> None:
        self.dedupes = dedupes
        self.asked: list[Posted] = []  # every write that arrived
        self.effects: list[Posted] = []  # every write that was carried out
        self.events: list[Posted] = []
        self.arriving = PatientGate()  # closed: a request waits before its effect
        self.slow: set[str] = set()  # targets whose requests wait at `arriving`; empty: all
        self.answering = PatientGate()  # closed: it has its effect and gets no answer
        self.in_flight: Counter[str] = Counter()  # by target
        self.most_at_once: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.ledger = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.arriving.open()
        self.answering.open()
        self._server.shutdown()
        self._server.server_close()

    @property
    def keys(self) -> list[str]:
        """The Idempotency-Key of every effect, in order."""
        return [posted.key for posted in self.effects]

    @property
    def targets(self) -> list[str]:
        """The target of every effect, in order."""
        return [_target(posted.path) for posted in self.effects]

    def write(self, posted: Posted) -> dict[str, Any]:
        """Carries a write out and gives its answer, each where its gate lets it."""
        target = _target(posted.path)
        with self._lock:
            self.asked.append(posted)
            self.in_flight[target] += 1
            self.most_at_once[target] = max(self.most_at_once[target], self.in_flight[target])
        try:
            if not self.slow or target in self.slow:
                self.arriving.pass_through()
            answer = self._carry_out(posted)
            self.answering.pass_through()
        finally:
            with self._lock:
                self.in_flight[target] -= 1
        return answer

    def _carry_out(self, posted: Posted) -> dict[str, Any]:
        with self._lock:
            if not (self.dedupes and posted.key in self.keys):
                self.effects.append(posted)
            return {"id": str(self.keys.index(posted.key) + 1)}

    def find(self, delivery_id: str) -> list[dict[str, str]]:
        return [{"id": str(number)} for number, key in enumerate(self.keys, 1) if key == delivery_id]

    def show(self, number: int) -> dict[str, Any]:
        return {"payload": json.loads(self.effects[number - 1].body)}


def _target(path: str) -> str:
    return parse_qs(urlsplit(path).query)["target"][0]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    ledger: Ledger

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that are killed hang up: that is what these tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        posted = Posted(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        if self.path == "/events":
            self.server.ledger.events.append(posted)
            self._answer(200, {})
        else:
            self._answer(201, self.server.ledger.write(posted))

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/items":
            self._answer(200, {"items": self.server.ledger.find(parse_qs(parts.query)["operation_id"][0])})
        else:
            self._answer(200, self.server.ledger.show(int(parts.path.rsplit("/", 1)[1])))

    def _answer(self, status: int, document: dict[str, Any]) -> None:
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        """Says nothing: the tests ask what was posted."""
