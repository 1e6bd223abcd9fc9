"""A remote on loopback that keeps items and counts requests; it serves as an audit sink too."""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

LONGEST_HANG_SECONDS = 60.0


@dataclass(frozen=True)
class Posted:
    """One request that wanted to change something."""

    path: str
    headers: dict[str, str]  # names in lower case
    body: bytes

    @property
    def key(self) -> str:
        return self.headers.get("idempotency-key", "")


@dataclass
class Gate:
    """Where a request is held up until somebody opens; closed by `close`."""

    _open: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._open.set()

    def close(self) -> None:
        self._open.clear()

    def open(self) -> None:
        self._open.set()

    def pass_through(self) -> None:
        self._open.wait(LONGEST_HANG_SECONDS)


class Items:
    """`POST /items` keeps one more item, `GET /items?operation_id=` finds it, `GET /items/<number>` shows it.

    `POST /events` is an audit sink. With `answering` closed a request has its effect and gets no answer until it opens.
    """

    def __init__(self) -> None:
        self.posted: list[Posted] = []
        self.answering = Gate()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.items = self
        self.host = f"127.0.0.1:{self._server.server_address[1]}"
        self.url = f"http://{self.host}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.answering.open()
        self._server.shutdown()
        self._server.server_close()

    @property
    def made(self) -> list[Posted]:
        return [posted for posted in self.posted if posted.path == "/items"]

    @property
    def events(self) -> list[Posted]:
        return [posted for posted in self.posted if posted.path == "/events"]

    def keep(self, posted: Posted) -> dict[str, Any]:
        self.posted.append(posted)
        return {"id": str(len(self.made))}

    def find(self, delivery_id: str) -> list[dict[str, str]]:
        return [{"id": str(number)} for number, item in enumerate(self.made, 1) if item.key == delivery_id]

    def show(self, number: int) -> dict[str, Any]:
        return {"payload": json.loads(self.made[number - 1].body)}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    items: Items

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that are killed hang up: that is what these tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.items.keep(Posted(self.path, headers, body))
        self.server.items.answering.pass_through()
        self._answer(201, answer)

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/items":
            self._answer(200, {"items": self.server.items.find(parse_qs(parts.query)["operation_id"][0])})
        else:
            self._answer(200, self.server.items.show(int(parts.path.rsplit("/", 1)[1])))

    def _answer(self, status: int, document: dict[str, Any]) -> None:
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        """Says nothing: the tests ask what was posted."""
