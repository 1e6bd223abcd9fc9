"""Where the story plays: a database of its own, a real tracker, a real web server; gone when it ends."""

import os
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import django
from django.core.management import call_command

from reviewroom.children import Child, stop_all
from reviewroom.demo.api import Caller
from reviewroom.demo.tracker import Tracker

READY_SECONDS = 60
SCOPES = {"reply-bot": "propose,introspect", "ben": "review,introspect", "cleo": "review,introspect"}


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything the story needs at hand."""

    tracker: Tracker
    web_url: str
    sink: Path
    callers: dict[str, Caller]


@contextmanager
def stage() -> Iterator[Stage]:
    """Sets everything up and takes it down again, whatever happens in between."""
    with tempfile.TemporaryDirectory(prefix="review-room-") as name, Tracker() as tracker:
        folder, port = Path(name), _free_port()
        _environment(folder, tracker)
        django.setup()
        _database(tracker)
        children: list[Child] = []
        try:
            web_url = _web(port, children)
            callers = {user: Caller(user, web_url, _token(user, scopes)) for user, scopes in SCOPES.items()}
            yield Stage(tracker, web_url, folder / "sink.jsonl", callers)
        finally:
            stop_all(children)


def _environment(folder: Path, tracker: Tracker) -> None:
    """Set before Django reads it, and inherited by the web server."""
    for name in [name for name in os.environ if name.startswith("REVIEWROOM_")]:
        del os.environ[name]  # nothing of a real installation may reach the demo, or the other way round
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "reviewroom.settings",
        "REVIEWROOM_DATABASE_URL": f"sqlite:///{folder}/story.sqlite3",
        "REVIEWROOM_AUDIT_SINK": (folder / "sink.jsonl").as_uri(),
        "REVIEWROOM_INSTANCE": "demo",
        "REVIEWROOM_ALLOW_PRIVATE_TARGETS": "true",
        # Short, because the story waits for them: a tracker on the same machine answers in milliseconds.
        "REVIEWROOM_SEND_TIMEOUT_SECONDS": "2",
        "REVIEWROOM_LEASE_SECONDS": "5",
        "REVIEWROOM_ABSENT_GRACE_SECONDS": "7",
        "REVIEWROOM_TARGET_SECRET_TRACKER": tracker.secret,
        "REVIEWROOM_TARGET_SECRET_TRACKER_HOSTS": tracker.host,
        "PYTHONWARNINGS": "ignore:No directory at",  # static files are not collected, and no page is shown
    }


def _database(tracker: Tracker) -> None:
    from reviewroom.demo import rooms

    call_command("migrate", interactive=False, verbosity=0)
    legal = [{"group": "legal", "minimum": 1}]
    rules = {"required_approvals": 2, "requirements": legal, "dispatch_delay": "0s"}
    rooms.apply(rooms.document(tracker.base_url, **rules), command="demo")


def _token(user: str, scopes: str) -> str:
    printed = StringIO()
    call_command("create_token", user=user, scopes=scopes, stdout=printed, stderr=StringIO())
    return printed.getvalue().strip()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _web(port: int, children: list[Child]) -> str:
    options = ["--host", "127.0.0.1", "--port", str(port), "--interface", "wsgi", "--no-ws", "--log-level", "error"]
    web = Child("web", [sys.executable, "-m", "granian", *options, "reviewroom.wsgi:application"])
    children.append(web)
    web.start()
    deadline = time.monotonic() + READY_SECONDS
    while not _answers(port):
        if web.exit_code is not None or time.monotonic() > deadline:
            raise RuntimeError(f"The web server did not start on port {port}: {list(web.last_lines)}")
        time.sleep(0.1)
    return f"http://127.0.0.1:{port}"


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
