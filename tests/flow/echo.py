"""A remote that repeats everything it gets, credentials first, in every way a careless server might."""

import base64
import html
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import quote

ACCESS_TOKEN = "ya29.MRKaccesstoken41+/x"
FAILURES = ("fail", "unauthorized", "forbidden", "missing", "refuse", "later", "redirect", "nonsense", "id", "cut")
_STATUS = {"fail": 500, "unauthorized": 401, "forbidden": 403, "missing": 404, "refuse": 422, "later": 429}


class Echo:
    """Serves every HTTP connector. `mode` says how it treats what is asked, `first` the step before (token, link)."""

    def __init__(self) -> None:
        self.mode = self.first = "ok"
        self.got: list[str] = []  # everything received, credentials decoded
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._server.echo = self  # type: ignore[attr-defined]
        self.host = f"127.0.0.1:{self._server.server_address[1]}"
        self.url = f"http://{self.host}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def healthy(self, method: str, path: str, told: str) -> tuple[int, dict[str, Any]]:
        """What this remote says when all is well: the right shape, and the echo in every text of it."""
        if path == "/token":
            return 200, {"access_token": ACCESS_TOKEN, "expires_in": 3600, "token_type": "Bearer", "scope": told}
        if path.endswith("/@poe"):
            return 201, {"data": {"link": f"{self.url}/rest/data/issue/@poe/T{len(self.got)}", "echo": told}}
        if "/rest/" in path:
            issue = {"id": "7", "title": told, "reviewroom_id": told, "echo": told}
            return (201, {"data": {"id": "7"}}) if method == "POST" else (200, {"data": {"collection": [issue]}})
        if "/reviews/" in path:
            reply = {"comment": told, "updateTime": "2026-11-30T12:00:00Z"}
            name = path.removeprefix("/v4/").removesuffix("/reply")
            return 200, reply if method == "PUT" else {"name": name, "reviewReply": reply}
        found = {"id": "41", "payload": {"name": told}, "echo": told}
        return (200, {"items": [found]}) if "operation_id" in path else (200, found)


class _Handler(BaseHTTPRequestHandler):
    def answer(self) -> None:
        echo: Echo = self.server.echo  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        told = _told(self.command, self.path, dict(self.headers.items()), body)
        echo.got.append(told)
        before = self.path == "/token" or self.path.endswith("/@poe")
        mode = echo.first if before else echo.mode
        credential = self.headers.get("Authorization") or self.headers.get("X-Api-Key") or "none"
        if mode in ("ok", "id", "cut"):
            status, document = echo.healthy(self.command, self.path, told)
            if mode == "id":
                document = {"id": credential.split(" ")[-1], "data": {"id": credential}, "items": [{"id": credential}]}
            content = json.dumps(document).encode()
        else:
            status = _STATUS.get(mode, 307 if mode == "redirect" else 200)
            content = told.encode() if mode in ("fail", "nonsense") else json.dumps({"error": told}).encode()
        self._say(status, content, credential, len(content) + (10 if mode == "cut" else 0))

    def _say(self, status: int, content: bytes, credential: str, length: int) -> None:
        self.send_response(status)
        self.send_header("X-Request-Id", credential)
        self.send_header(
            "Location", f"http://elsewhere.example/?token={quote(credential)}&again={quote(credential, safe='')}"
        )
        self.send_header("Retry-After", "1")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(length))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    def version_string(self) -> str:
        return self.headers.get("Authorization") or "echo"

    def log_message(self, *_args: object) -> None:
        pass

    do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 (the standard library's names)


def _told(method: str, path: str, headers: dict[str, str], body: bytes) -> str:
    """The request as it is, then each credential as servers write such things into pages, logs and addresses."""
    lines = [f"{name}: {value}" for name, value in headers.items()]
    plain = [_decoded(value) for value in headers.values()]
    credentials = [text for text in [headers.get("Authorization", ""), headers.get("X-Api-Key", ""), *plain] if text]
    credentials += [text.split(" ")[-1] for text in credentials]
    credentials += [text.partition(":")[2] for text in credentials]
    written = [form(text) for text in filter(None, credentials) for form in _FORMS]
    return "\n".join([f"{method} {path}", *written, *lines, body.decode(errors="replace")])


def _decoded(value: str) -> str:
    try:
        return base64.b64decode(value.removeprefix("Basic ").removeprefix("Bearer "), validate=True).decode()
    except ValueError:
        return ""


def _lower(text: str) -> str:
    return re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), quote(text, safe=""))


_FORMS = (
    str,
    quote,
    _lower,
    html.escape,
    lambda text: html.escape(text, quote=False),
    lambda text: json.dumps(text)[1:-1],
    lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    lambda text: base64.b64encode(text.encode()).decode(),
    lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
)
