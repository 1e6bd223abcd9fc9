"""Mail servers on loopback: a real one (aiosmtpd), and one that says and does whatever a test wants."""

# ruff: noqa: N802  (aiosmtpd names its hooks so)

import socket
import socketserver
import ssl
import threading
from collections.abc import Callable
from typing import Any, Self

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.connectors.remote import hang

USER, PASSWORD = "mailer", "marker-pass+word/ü"
Step = bytes | Callable[[socket.socket, threading.Event], None]


class Mailbox:
    """The handler of a real server: keeps what it was given, and answers as it is told."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers  # by command; RCPT also by address
        self.taken: list[Envelope] = []

    async def handle_MAIL(self, _server: SMTP, _session: Session, envelope: Envelope, sender: str, options: Any) -> str:
        if "MAIL" in self.answers:
            return self.answers["MAIL"]
        envelope.mail_from = sender
        envelope.mail_options.extend(options)
        return "250 fine"

    async def handle_RCPT(
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: Any
    ) -> str:
        answer = self.answers.get(address, self.answers.get("RCPT", "250 fine"))
        if answer.startswith("250"):
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:
        answer = self.answers.get("DATA", "250 queued as 4F2A")
        if answer.startswith("250"):
            self.taken.append(envelope)
        return answer


class _Controller(Controller):
    """On a port that the system chooses."""

    def _trigger_server(self) -> None:
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


class Server:
    """A real mail server with this mailbox. A context manager."""

    def __init__(self, mailbox: Mailbox | None = None, **options: Any) -> None:
        self.mailbox = mailbox or Mailbox()
        self.logins: list[LoginPassword] = []
        self.password = PASSWORD
        if options.pop("asks_for_login", False):
            options |= {"authenticator": self._let_in, "auth_required": True}
        tls = options.pop("tls", None)
        self._controller = _Controller(
            self.mailbox, "127.0.0.1", 0, ssl_context=tls, ready_timeout=10, server_hostname="mail.test", **options
        )

    def _let_in(self, _server: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, given: Any) -> AuthResult:
        self.logins.append(given)
        right = (given.login, given.password) == (USER.encode(), self.password.encode())
        return AuthResult(success=right, handled=right)

    def __enter__(self) -> Self:
        self._controller.start()
        self.port = self._controller.port
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._controller.stop()


class Scripted:
    """A mail server that takes everything, but for the steps it is told otherwise.

    Steps: greeting, EHLO, STARTTLS, AUTH, MAIL, RCPT, DATA, content (once its first bytes are there) and dot; a list
    is used up one by one.
    """

    def __init__(
        self, *, tls: ssl.SSLContext | None = None, reads_little: bool = False, **steps: Step | list[Step]
    ) -> None:
        self.steps: dict[str, Any] = {**_HEALTHY, **steps}
        self.tls = tls
        self.greeted = 0  # connections
        self.heard: list[str] = []
        self.contents: list[bytes] = []  # each ended by its dot
        self.cut_off: list[bytes] = []  # those that were not
        self.stopped = threading.Event()
        self.said = threading.Event()  # the content step is done
        self.finished = threading.Semaphore(0)
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.scripted = self
        if reads_little:
            self._server.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.port = int(self._server.server_address[1])

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()

    def wait(self) -> None:
        """Until a connection has been dealt with."""
        assert self.finished.acquire(timeout=10)

    def act(self, name: str, connection: socket.socket) -> None:
        step = self.steps[name]
        if isinstance(step, list):
            step = step.pop(0) if len(step) > 1 else step[0]
        if isinstance(step, bytes):
            connection.sendall(step)
        else:
            step(connection, self.stopped)


_HEALTHY: dict[str, Step] = {
    "greeting": b"220 mail.test ESMTP\r\n",
    "EHLO": b"250-mail.test\r\n250 SIZE 1000000\r\n",
    "STARTTLS": b"220 go ahead\r\n",
    "AUTH": b"235 welcome\r\n",
    "MAIL": b"250 ok\r\n",
    "RCPT": b"250 ok\r\n",
    "DATA": b"354 go on\r\n",
    "content": b"",
    "dot": b"250 queued as 4F2A\r\n",
    "QUIT": b"221 bye\r\n",
    "RSET": b"250 ok\r\n",
}


def then(*steps: Step) -> Step:
    """Several steps as one."""

    def act(connection: socket.socket, stopped: threading.Event) -> None:
        for step in steps:
            if isinstance(step, bytes):
                connection.sendall(step)
            else:
                step(connection, stopped)

    return act


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    scripted: Scripted

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is what these tests are about."""


class _Handler(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        self.connection = self.request
        try:
            self._converse(self.server.scripted)
        finally:
            self.connection.close()
            self.server.scripted.finished.release()

    def _converse(self, scripted: Scripted) -> None:
        scripted.greeted += 1
        scripted.act("greeting", self.connection)
        while line := self._line():
            scripted.heard.append(line)
            verb = line.split(" ")[0].upper()
            scripted.act(verb, self.connection)
            if verb == "STARTTLS" and scripted.tls:
                self.connection = scripted.tls.wrap_socket(self.connection, server_side=True)
            gives_content = verb == "DATA" and scripted.steps["DATA"] == _HEALTHY["DATA"]
            if verb == "QUIT" or (gives_content and not self._content(scripted)):
                return

    def _line(self) -> str:
        data = b""
        while not data.endswith(b"\r\n"):
            byte = self.connection.recv(1)
            if not byte:
                return ""
            data += byte
        return data.decode().removesuffix("\r\n")

    def _content(self, scripted: Scripted) -> bool:
        data = self.connection.recv(65536)
        if data:
            scripted.act("content", self.connection)
            scripted.said.set()
        while not data.endswith(b"\r\n.\r\n"):
            more = self.connection.recv(65536)
            if not more:
                scripted.cut_off.append(data)
                return False
            data += more
        scripted.contents.append(data.removesuffix(b".\r\n"))
        scripted.act("dot", self.connection)
        return True


__all__ = ["PASSWORD", "USER", "Mailbox", "Scripted", "Server", "Step", "hang", "then"]
