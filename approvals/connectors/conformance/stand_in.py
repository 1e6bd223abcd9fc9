"""A small HTTP remote on loopback that treats the next call of a verb as it is told, down to the bytes.

Subclass it, say which request is which verb and what a healthy remote answers; the misbehaviour is here.
"""

import json
import socket
import socketserver
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

from approvals.connectors.conformance.behaviour import Behaviour, Verb

LONGEST_HANG_SECONDS = 30.0
FLOOD_BYTES = 4 * 1024 * 1024
ECHO_BYTES = 100 * 1024
DRIP_SECONDS = 0.05


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str  # with the query
    headers: dict[str, str]  # names in lower case
    body: bytes


@dataclass(frozen=True)
class Reply:
    """One answer. A document is sent as JSON, bytes and text as they are."""

    status: int = 200
    document: Any = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def body(self) -> bytes:
        if isinstance(self.document, bytes):
            return self.document
        if isinstance(self.document, str):
            return self.document.encode()
        return b"" if self.document is None else json.dumps(self.document).encode()

    def head(self, length: int) -> bytes:
        fields = {"Content-Type": "application/json", "Connection": "close", **self.headers}
        if self.status != 204:
            fields["Content-Length"] = str(length)
        lines = [f"HTTP/1.1 {self.status} Said", *(f"{name}: {value}" for name, value in fields.items())]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


class StandIn(ABC):
    """See the module. A context manager; `url` is where it listens."""

    def __init__(self, port: int = 0) -> None:
        self.asked: list[Asked] = []
        self.stopped = threading.Event()
        self._told: dict[Verb, Behaviour] = {}
        self._lock = threading.Lock()  # one change at a time, as in a database
        self._listen(port)
        self.host = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.host}"

    @abstractmethod
    def verb_of(self, asked: Asked) -> Verb | None:
        """Which verb this request is of; None for a step before one."""

    @abstractmethod
    def answer(self, asked: Asked) -> Reply:
        """Do what is asked, as a healthy remote does."""

    def refusal(self, status: int, text: str) -> Reply:
        """A no in this remote's own words."""
        return Reply(status, {"error": text}, {"Retry-After": "7"} if status == 429 else {})

    def behave(self, verb: Verb, behaviour: Behaviour) -> None:
        """Treat the next call of this verb so."""
        if behaviour in (Behaviour.UNREACHABLE, Behaviour.SILENT):
            self._close()
            if behaviour is Behaviour.SILENT:
                self._crowd()
        else:
            self._told[verb] = behaviour

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stopped.set()
        self._close()
        for held in self._crowding:
            held.close()

    def respond(self, connection: socket.socket, asked: Asked) -> None:
        """Answer one request the way it was told to be answered."""
        self.asked.append(asked)
        verb = self.verb_of(asked)
        behaviour = self._told.pop(verb, Behaviour.APPLY) if verb else Behaviour.APPLY
        if behaviour.startswith("apply"):
            with self._lock:
                reply = self.answer(asked)
            if behaviour in _NEED_A_BODY and reply.status == 204:
                reply = Reply(200, {})
            _APPLIED[behaviour](self, connection, reply)
        else:
            self._unanswered(connection, asked, behaviour)

    def _unanswered(self, connection: socket.socket, asked: Asked, behaviour: Behaviour) -> None:
        if behaviour is Behaviour.HANG:
            self.stopped.wait(LONGEST_HANG_SECONDS)
        elif behaviour is Behaviour.GARBAGE:
            connection.sendall(b"220 mail.example ESMTP\r\n250 ok\r\n")
        elif behaviour is not Behaviour.HANG_UP:
            _whole(self, connection, self._said(asked, behaviour))

    def _said(self, asked: Asked, behaviour: Behaviour) -> Reply:
        if behaviour is Behaviour.NONSENSE:
            return Reply(200, "<html>Welcome</html>", {"Content-Type": "text/html"})
        if behaviour is Behaviour.REDIRECT:
            return Reply(307, None, {"Location": f"{self.url}/elsewhere"})
        if behaviour is Behaviour.ECHO:
            told = json.dumps([asked.method, asked.path, asked.headers, asked.body.decode(errors="replace")])
            return Reply(422, told + "x" * ECHO_BYTES, {"X-Request-Id": " ".join(asked.headers.values())})
        if behaviour is Behaviour.FAIL and self.verb_of(asked) not in (Verb.SEND, Verb.RETRACT):
            return Reply(500, self.answer(asked).body)
        return self.refusal(_STATUS[behaviour], f"told to {behaviour}")

    def _listen(self, port: int) -> None:
        self._crowding: list[socket.socket] = []
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.stand_in = self
        self._open = True
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def _close(self) -> None:
        if self._open:
            self._open = False
            self._server.shutdown()
            self._server.server_close()

    def _crowd(self) -> None:
        """Fill the queue of a listener that nobody serves: the system then leaves every further connection waiting."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(0)
        self._crowding.append(listener)
        for _ in range(2):
            waiting = socket.socket()
            waiting.setblocking(False)
            with suppress(BlockingIOError):
                waiting.connect(("127.0.0.1", self.port))
            self._crowding.append(waiting)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    stand_in: StandIn

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is what this is about."""


class _Handler(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        asked = _read(self.request)
        if asked is not None:
            self.server.stand_in.respond(self.request, asked)


def _whole(_stand_in: StandIn, connection: socket.socket, reply: Reply) -> None:
    connection.sendall(reply.head(len(reply.body)) + reply.body)


def _hang_up(_stand_in: StandIn, _connection: socket.socket, _reply: Reply) -> None:
    """The handler's end closes the connection."""


def _hang(stand_in: StandIn, _connection: socket.socket, _reply: Reply) -> None:
    stand_in.stopped.wait(LONGEST_HANG_SECONDS)


def _cut(_stand_in: StandIn, connection: socket.socket, reply: Reply) -> None:
    connection.sendall(reply.head(len(reply.body) + 10) + reply.body[: len(reply.body) // 2])


def _drip(stand_in: StandIn, connection: socket.socket, reply: Reply) -> None:
    connection.sendall(reply.head(FLOOD_BYTES))
    while not stand_in.stopped.wait(DRIP_SECONDS):
        connection.sendall(b" ")


def _flood(_stand_in: StandIn, connection: socket.socket, reply: Reply) -> None:
    body = reply.body + b" " * FLOOD_BYTES
    connection.sendall(reply.head(len(body)) + body)


def _complain(stand_in: StandIn, connection: socket.socket, reply: Reply) -> None:
    document = json.loads(reply.body or b"{}")
    complaint = {"error": "told to complain"}
    _whole(stand_in, connection, Reply(reply.status, {**document, **complaint} if document else complaint))


def _fail(stand_in: StandIn, connection: socket.socket, _reply: Reply) -> None:
    _whole(stand_in, connection, stand_in.refusal(503, "told to apply and fail"))


_APPLIED: dict[Behaviour, Callable[[StandIn, socket.socket, Reply], None]] = {
    Behaviour.APPLY: _whole,
    Behaviour.APPLY_AND_HANG_UP: _hang_up,
    Behaviour.APPLY_AND_HANG: _hang,
    Behaviour.APPLY_AND_CUT: _cut,
    Behaviour.APPLY_AND_DRIP: _drip,
    Behaviour.APPLY_AND_FLOOD: _flood,
    Behaviour.APPLY_AND_COMPLAIN: _complain,
    Behaviour.APPLY_AND_FAIL: _fail,
}
_NEED_A_BODY = {
    Behaviour.APPLY_AND_CUT,
    Behaviour.APPLY_AND_DRIP,
    Behaviour.APPLY_AND_FLOOD,
    Behaviour.APPLY_AND_COMPLAIN,
}
_STATUS = {
    Behaviour.FAIL: 500,
    Behaviour.REFUSE: 422,
    Behaviour.LATER: 429,
    Behaviour.LOCK_OUT: 401,
    Behaviour.FORBID: 403,
    Behaviour.CONFLICT: 409,
}


def _read(connection: socket.socket) -> Asked | None:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            return None
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        chunk = connection.recv(65536)
        if not chunk:
            return None
        body += chunk
    method, path, _ = first.split(" ")
    return Asked(method, path, headers, body)
