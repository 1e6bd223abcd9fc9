"""A remote on loopback that does to a connection whatever a test wants."""

import socket
import socketserver
import ssl
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Received:
    method: str
    path: str  # with the query
    headers: dict[str, str]  # names in lower case
    body: bytes


Behaviour = Callable[[socket.socket, threading.Event], None]


class Remote:
    """Answers each request with the next behaviour, and the last one for ever; keeps what it received."""

    def __init__(self, *behaviours: Behaviour, tls: ssl.SSLContext | None = None, greeting: bytes = b"") -> None:
        self.behaviours = list(behaviours)
        self.received: list[Received] = []
        self.stopped = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.remote = self
        self._server.tls = tls
        self._server.greeting = greeting  # said before the client says anything
        self.port = self._server.server_address[1]
        self.host = f"127.0.0.1:{self.port}"
        self.url = f"{'https' if tls else 'http'}://{self.host}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()

    def next_behaviour(self) -> Behaviour:
        return self.behaviours.pop(0) if len(self.behaviours) > 1 else self.behaviours[0]


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    remote: Remote
    tls: ssl.SSLContext | None
    greeting: bytes

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is what these tests are about."""


class _Handler(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        connection = self.request
        connection.sendall(self.server.greeting)
        if self.server.tls is not None:
            connection = self.server.tls.wrap_socket(connection, server_side=True)
        received = _read(connection)
        if received is not None:
            remote = self.server.remote
            remote.received.append(received)
            remote.next_behaviour()(connection, remote.stopped)
        if connection is not self.request:
            connection.close()


def _read(connection: socket.socket) -> Received | None:
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
        body += connection.recv(65536)
    method, path, _ = first.split(" ")
    return Received(method, path, headers, body)


def reply(
    status: int = 200, body: bytes | str = b"", headers: dict[str, str] | None = None, *, length: int | None = None
) -> Behaviour:
    """A whole answer; with `length`, one whose announced length is another than the true one."""
    content = body.encode() if isinstance(body, str) else body
    fields = {"Content-Type": "application/json", **(headers or {})}
    fields["Content-Length"] = str(len(content) if length is None else length)
    head = f"HTTP/1.1 {status} Said\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())

    def answer(connection: socket.socket, _stopped: threading.Event) -> None:
        connection.sendall(head.encode("latin-1") + b"\r\n" + content)

    return answer


def raw(data: bytes) -> Behaviour:
    return lambda connection, _stopped: connection.sendall(data)


def hang(_connection: socket.socket, stopped: threading.Event) -> None:
    """Takes the request and never answers."""
    stopped.wait(30)


def reset(connection: socket.socket, _stopped: threading.Event) -> None:
    """Takes the request and breaks the connection off (RST)."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def hang_up(connection: socket.socket, _stopped: threading.Event) -> None:
    """Takes the request and closes the connection in an orderly way."""
    connection.shutdown(socket.SHUT_RDWR)


def closed_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
