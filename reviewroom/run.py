"""`make run`: web, workers and an embedded issue tracker in one terminal.

Migrates, loads demo data once, prints where to go, and stops everything on Ctrl-C or when one part ends.
"""

import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from reviewroom.children import Child, first_to_end, stop_all

VAR_DIR = Path(__file__).resolve().parent.parent / "var"
HOST = "127.0.0.1"
TRACKER_DIR = VAR_DIR / "tracker"
PORT_FILE = VAR_DIR / "tracker-port"
DEFAULT_TRACKER_PORT = "8917"
READY_SECONDS = 60
# More than any page needs at once, because calls with ?wait=30 hold a thread each.
BLOCKING_THREADS = "24"


class CannotStart(Exception):
    """Why `make run` ends before it has begun; the message holds the fix."""


def main() -> int:
    """Runs until Ctrl-C; gives the exit code."""
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stopped.set())
    try:
        return _run(stopped)
    except (CannotStart, CommandError, ImproperlyConfigured) as exc:
        print(f"\nReview Room did not start: {exc}", file=sys.stderr)
        return 1


def _run(stopped: threading.Event) -> int:
    _choose_tracker_port()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "reviewroom.settings")
    django.setup()
    from django.conf import settings

    from reviewroom.welcome import welcome

    web_port, tracker_port = settings.REVIEWROOM_PORT, settings.REVIEWROOM_TRACKER_PORT
    _refuse_busy_ports(web_port, tracker_port)
    children: list[Child] = []
    try:
        _make_tracker(tracker_port)
        _prepare()
        _start(_tracker(tracker_port), tracker_port, children, stopped)
        _start(_web(web_port), web_port, children, stopped)
        _start(_worker(), None, children, stopped)
        if not stopped.is_set():
            print(welcome(web_port, tracker_port), flush=True)
        return _watch(children, stopped)
    finally:
        stop_all(children)


def _choose_tracker_port() -> None:
    """Tells the settings where the embedded tracker will be; a private target, because it is on this machine."""
    port = os.environ.get("REVIEWROOM_TRACKER_PORT") or _port_of_last_time() or DEFAULT_TRACKER_PORT
    os.environ["REVIEWROOM_TRACKER_PORT"] = port
    os.environ["REVIEWROOM_ALLOW_PRIVATE_TARGETS"] = "true"


def _port_of_last_time() -> str:
    """The demo channel names the tracker's port, so a port once chosen is used until another one is chosen."""
    return PORT_FILE.read_text().strip() if PORT_FILE.exists() else ""


def _make_tracker(port: int) -> None:
    """Makes the tracker once; tells the web server and the workers the secret it is written with."""
    from reviewroom.demo import tracker

    tracker.make(TRACKER_DIR)
    os.environ["REVIEWROOM_TARGET_SECRET_TRACKER"] = tracker.secret(TRACKER_DIR)
    os.environ["REVIEWROOM_TARGET_SECRET_TRACKER_HOSTS"] = f"{HOST}:{port}"


def _refuse_busy_ports(web: int, tracker: int) -> None:
    if web == tracker:
        raise CannotStart(f"REVIEWROOM_PORT and REVIEWROOM_TRACKER_PORT are both {web}. Give them different ports.")
    _refuse_busy_port(web, "REVIEWROOM_PORT", web + 1)
    _refuse_busy_port(tracker, "REVIEWROOM_TRACKER_PORT", tracker + 1)


def _refuse_busy_port(port: int, variable: str, example: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as exc:
            raise CannotStart(
                f"port {port} cannot be used ({exc.strerror}). Stop what listens there, "
                f"or choose another port: {variable}={example} make run"
            ) from exc


def _prepare() -> None:
    """Brings database, demo data and static files up to date; a second time this is quick."""
    call_command("migrate", interactive=False, verbosity=0)
    call_command("load_demo")
    PORT_FILE.write_text(os.environ["REVIEWROOM_TRACKER_PORT"])
    if _static_files_changed():
        call_command("collectstatic", interactive=False, verbosity=0)


def _static_files_changed() -> bool:
    from django.conf import settings
    from django.contrib.staticfiles.finders import get_finders

    manifest = Path(settings.STATIC_ROOT) / "staticfiles.json"
    if not manifest.exists():
        return True
    sources = (Path(storage.path(name)) for finder in get_finders() for name, storage in finder.list([]))
    return max((source.stat().st_mtime for source in sources), default=0) > manifest.stat().st_mtime


def _tracker(port: int) -> Child:
    options = [str(TRACKER_DIR), "--port", str(port)]
    return Child("tracker", [sys.executable, "-m", "reviewroom.demo.tracker", *options])


def _web(port: int) -> Child:
    options = ["--host", HOST, "--port", str(port), "--interface", "wsgi", "--no-ws", "--log-level", "error"]
    threads = ["--workers", "1", "--blocking-threads", BLOCKING_THREADS]
    return Child("web", [sys.executable, "-m", "granian", *options, *threads, "reviewroom.wsgi:application"])


def _worker() -> Child:
    return Child("worker", [sys.executable, "manage.py", "run_worker", "--forever"])


def _start(child: Child, port: int | None, children: list[Child], stopped: threading.Event) -> None:
    """Starts a child and, where it listens, waits until it answers."""
    if stopped.is_set():
        return
    children.append(child)
    child.start()
    deadline = time.monotonic() + READY_SECONDS
    while port is not None and not stopped.is_set() and not _answers(port):
        if child.exit_code is not None:
            raise CannotStart(_last_words(child))
        if time.monotonic() > deadline:
            raise CannotStart(f"{child.name} did not answer on port {port} within {READY_SECONDS} seconds.")
        stopped.wait(0.1)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def _watch(children: list[Child], stopped: threading.Event) -> int:
    ended = first_to_end(children, stopped)
    if ended is None:
        print("\nStopping ...", flush=True)
        return 0
    print(f"\n{_last_words(ended)}\nStopping the other parts ...", file=sys.stderr, flush=True)
    return 1


def _last_words(child: Child) -> str:
    said = "\n".join(f"  {line}" for line in child.last_lines) or "  (nothing)"
    return f"{child.name} ended with exit code {child.exit_code}. It said last:\n{said}"


if __name__ == "__main__":
    sys.exit(main())
