"""A real Roundup tracker on loopback, for the demo and the tests.

`python -m reviewroom.demo.tracker DIRECTORY --port 8001` makes the tracker once and serves it; the next start finds
it there. It is Roundup's classic template with a few plain properties on its issues and a user that may create,
edit and retire issues by REST. Everybody may look at the issues in a browser. No mail ever leaves it.
"""

import argparse
import gc
import json
import os
import secrets
import shutil
import signal
import socketserver
import subprocess
import sys
import tempfile
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

USER = "reviewroom"
ID_PROPERTY = "reviewroom_id"
READY = "Tracker ready at "
_ROLES = "User,Reviewroom"  # of that user
_PASSWORD_FILE = "reviewroom.password"
_PARTIAL = ".partial"  # a tracker whose making was interrupted has this suffix and is made again
# The password is random and long: slow hashing would only cost a tenth of a second on every REST call.
_HASH_ROUNDS = 10_000

_ISSUE = 'issue = IssueClass(db, "issue",'
_PROPERTIES = f"""
                {ID_PROPERTY}=String(),  # the delivery id that Review Room searches for
                room=String(),
                category=String(),
                details=String(),"""
_ROLE = """
db.security.addRole(name="Reviewroom", description="Creates, edits and retires issues by REST")
for permission in "Create", "View", "Edit", "Retire":
    db.security.addPermissionToRole("Reviewroom", permission, "issue")
db.security.addPermissionToRole("Reviewroom", "Rest Access")
"""
_LAST_LINE = "# vim: set filetype=python"
_ROWS = """<tr>
 <th>Room</th>
 <td tal:content="structure context/room/field">room</td>
 <th>Category</th>
 <td tal:content="structure context/category/field">category</td>
</tr>

<tr>
 <th>Details</th>
 <td colspan=3 tal:content="structure context/details/multiline">details</td>
</tr>

<tr>
 <th>Review Room</th>
 <td colspan=3 tal:content="context/reviewroom_id">delivery id</td>
</tr>

"""
_ROWS_BEFORE = '<tr>\n <th i18n:translate="">Superseder</th>'


class _Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 64


class _Handler(WSGIRequestHandler):
    def get_environ(self) -> WSGIEnvironment:
        """Without the text/plain that wsgiref makes up where a request has no body: Roundup refuses it (415)."""
        environ = super().get_environ()
        if "content-type" not in self.headers:
            del environ["CONTENT_TYPE"]
        return environ

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (named so by the base class)
        """One line per request would drown the terminal this shares."""


def make(directory: Path, password: str | None = None) -> None:
    """Makes the tracker unless it is there already. Interrupted, it leaves nothing that looks finished."""
    if directory.exists():
        return
    partial = directory.with_name(directory.name + _PARTIAL)
    shutil.rmtree(partial, ignore_errors=True)
    _install(partial, password or secrets.token_urlsafe(24))
    partial.rename(directory)


def secret(directory: Path) -> str:
    """`user:password` of the REST user."""
    return f"{USER}:{(directory / _PASSWORD_FILE).read_text().strip()}"


def serve(directory: Path, port: int) -> None:
    """Serves until SIGTERM or Ctrl-C. Port 0 takes a free one; the ready line tells which."""
    from roundup.cgi.wsgi_handler import RequestDispatcher

    with _Server(("127.0.0.1", port), _Handler) as server:
        url = f"http://127.0.0.1:{server.server_port}/"
        _configure(directory, web=url)
        server.set_app(_releasing(RequestDispatcher(str(directory))))
        print(READY + url, flush=True)
        server.serve_forever(poll_interval=0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes (once) and serves a Roundup tracker.")
    parser.add_argument("directory", type=Path, help="where the tracker lives; made if it is not there")
    parser.add_argument("--port", type=int, default=8001, help="on 127.0.0.1; 0 takes a free one (default: 8001)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, _stop)
    make(options.directory)
    try:
        serve(options.directory, options.port)
    except KeyboardInterrupt:
        sys.exit(0)
    except OSError as exc:
        sys.exit(f"The tracker cannot listen on port {options.port} ({exc.strerror}): choose another with --port.")


class Tracker:
    """A tracker of its own process for tests: `with Tracker() as tracker: ...`."""

    base_url: str  # of the REST interface, as a channel's config wants it
    web_url: str
    host: str  # host:port, as a secret's _HOSTS variable wants it
    secret: str  # user:password

    def __init__(self, directory: Path | None = None, port: int = 0) -> None:
        self._temporary = None if directory else tempfile.TemporaryDirectory(prefix="tracker-")
        self.directory = directory or Path(self._temporary.name) / "tracker"  # type: ignore[union-attr]
        self._port = port

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name, str(self.directory), "--port", str(self._port)],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.web_url = self._ready_url()
        self.base_url = self.web_url + "rest/data"
        self.host = self.web_url.removeprefix("http://").rstrip("/")
        self.secret = secret(self.directory)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.communicate(timeout=10)
        if self._temporary is not None:
            self._temporary.cleanup()

    def issues(self) -> list[dict[str, Any]]:
        """All issues that are not retired, with all their properties, oldest first."""
        listed = self.rest("issue?@sort=id")["collection"]
        return [{"id": found["id"], **self.rest(f"issue/{found['id']}")["attributes"]} for found in listed]

    def rest(self, path: str) -> Any:
        """The data of a GET below the REST interface, as the REST user."""
        return self._call("GET", path)

    def edit(self, issue: str, **properties: Any) -> None:
        """Changes an issue as a person would."""
        self._call("PATCH", f"issue/{issue}", self.rest(f"issue/{issue}")["@etag"], properties)

    def retire(self, issue: str) -> None:
        """Takes an issue out of every list, as a person would."""
        self._call("DELETE", f"issue/{issue}", self.rest(f"issue/{issue}")["@etag"])

    def kill(self) -> None:
        """Ends the process as a power cut would."""
        self._process.kill()
        self._process.wait()

    def _call(self, method: str, path: str, etag: str = "", document: Any = None) -> Any:
        headers = {
            "Authorization": "Basic " + b64encode(self.secret.encode()).decode(),
            "X-Requested-With": "rest",
            "Referer": self.web_url,
            "Origin": self.web_url.rstrip("/"),
        }
        headers |= {"If-Match": etag} if etag else {}
        headers |= {"Content-Type": "application/json"} if document else {}
        body = json.dumps(document).encode() if document else None
        request = urllib.request.Request(f"{self.base_url}/{path}", body, headers, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)["data"]

    def _ready_url(self) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(READY):
                return line.removeprefix(READY).strip()
        raise RuntimeError(f"The tracker ended with exit code {self._process.wait()} before it was ready.")


def _releasing(app: WSGIApplication) -> WSGIApplication:
    """The same application, giving up the database after a failed request.

    The error's traceback keeps Roundup's cursor in a reference cycle, and with it SQLite's write lock: until the
    next garbage collection every other write would wait for its time-out.
    """

    def respond(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        statuses: list[str] = []

        def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Callable[[bytes], object]:
            statuses.append(status)
            return start_response(status, headers, *exc_info)

        body = app(environ, start)
        if statuses and statuses[-1] >= "400":
            gc.collect()
        return body

    return respond


def _install(directory: Path, password: str) -> None:
    from roundup import init, instance
    from roundup.admin import AdminTool
    from roundup.password import Password

    init.install(str(directory), AdminTool().listTemplates()["classic"]["path"])
    _amend(directory)
    _configure(directory, web="http://127.0.0.1:8001/")
    tracker = instance.open(str(directory))
    tracker.init(Password(secrets.token_urlsafe(24), config=tracker.config))
    db = tracker.open("admin")
    db.user.create(
        username=USER,
        password=Password(password, config=tracker.config),
        address="reviewroom@localhost",
        realname="Review Room",
        roles=_ROLES,
    )
    db.commit()
    db.close()
    (directory / _PASSWORD_FILE).touch(mode=0o600)
    (directory / _PASSWORD_FILE).write_text(password)


def _amend(directory: Path) -> None:
    """Adds our properties, role and page rows to the template; takes out the mail it would send."""
    _insert(directory / "schema.py", _ISSUE, _ISSUE + _PROPERTIES)
    _insert(directory / "schema.py", _LAST_LINE, _ROLE + _LAST_LINE)
    _insert(directory / "html" / "issue.item.html", _ROWS_BEFORE, _ROWS + _ROWS_BEFORE)
    (directory / "detectors" / "nosyreaction.py").unlink(missing_ok=True)


def _insert(file: Path, mark: str, replacement: str) -> None:
    text = file.read_text()
    if mark not in text:
        raise RuntimeError(f"This version of Roundup has another {file.name}: {mark!r} is not in it.")
    file.write_text(text.replace(mark, replacement, 1))


def _configure(directory: Path, web: str) -> None:
    from roundup.configuration import CoreConfig

    config = CoreConfig(str(directory))
    wanted = {
        "TRACKER_NAME": "Facilities tracker",
        "TRACKER_WEB": web,
        "MAIL_DOMAIN": "localhost",
        "MAIL_DEBUG": str(directory.resolve() / "mail.txt"),
        "RDBMS_BACKEND": "sqlite",
        "WEB_API_FAILED_LOGIN_LIMIT": "0",  # none: a demo of a mended password must not wait for minutes
        "PASSWORD_PBKDF2_DEFAULT_ROUNDS": str(_HASH_ROUNDS),
    }
    if any(config[name] != value for name, value in wanted.items()):
        for name, value in wanted.items():
            config[name] = value
        config.save(str(directory / "config.ini"))


def _stop(signum: int, frame: object) -> None:
    os._exit(0)  # every issue is committed by its own request; nothing is left to finish


if __name__ == "__main__":
    main()
