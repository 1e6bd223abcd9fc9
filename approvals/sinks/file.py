"""`file:///path`: one event a line, on disk before it counts as taken; a full file steps aside for a new one."""

import asyncio
import fcntl
import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self
from urllib.parse import unquote, urlsplit
from uuid import UUID

from approvals.connectors.base import Deadline
from approvals.sinks.base import Options, Sink, SinkAnswer, SinkError

DAILY = "daily"
_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
_SIZE = re.compile(r"([1-9][0-9]{0,11})(KB|MB|GB|)")
_TAKEN = SinkAnswer(ok=True, reason="Written and flushed to disk.")


@dataclass(frozen=True)
class Rotation:
    """When the file is put aside: before it would grow beyond `bytes`, or on the first write of a new day (UTC)."""

    bytes: int | None = None
    daily: bool = False


class FileSink(Sink):
    """Appends. Several processes may share the file; a line cut off by a crash is closed before the next one.

    Events that arrive while the disk is busy are written and flushed together: none counts before the flush that
    holds it. What is put aside is called `<name>.000001`, `.000002` and so on, the oldest first, and never touched.
    """

    def __init__(
        self,
        path: Path,
        rotation: Rotation = Rotation(),
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self.path = path
        self.rotation = rotation
        self._now = now
        self._waiting: list[tuple[bytes, asyncio.Future[SinkAnswer]]] = []
        self._flushing: asyncio.Task[None] | None = None

    async def post(self, event_id: UUID, payload: bytes, deadline: Deadline) -> SinkAnswer:
        if b"\n" in payload:
            return SinkAnswer(park=True, reason="The event holds a line break and would be two lines.")
        if deadline.too_late:
            return SinkAnswer(retry=True, reason="The time to write had passed.")
        answer: asyncio.Future[SinkAnswer] = asyncio.get_running_loop().create_future()
        self._waiting.append((payload + b"\n", answer))
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush())
        return await answer

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._flushing is not None:
            await self._flushing

    async def _flush(self) -> None:
        """Writes all that waits in one go, again and again until nothing does."""
        while self._waiting:
            batch, self._waiting = self._waiting, []
            said = await asyncio.to_thread(self._write, b"".join(line for line, _ in batch))
            for _, answer in batch:
                if not answer.done():
                    answer.set_result(said)

    def _write(self, lines: bytes) -> SinkAnswer:
        try:
            self._append(lines)
        except OSError as exc:
            return SinkAnswer(retry=True, reason=f"{self.path} cannot be written: {exc.strerror}.")
        return _TAKEN

    def _append(self, lines: bytes) -> None:
        descriptor = self._opened(len(lines))
        try:
            _append_whole(descriptor, lines)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _opened(self, more: int) -> int:
        """Gives the file, locked and with room for `more` bytes. Looks again if it was put aside meanwhile."""
        while True:
            is_new = not self.path.exists()
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if is_new:
                    _sync_directory(self.path.parent)
                if self._is_current(descriptor) and not self._is_full(descriptor, more):
                    return descriptor
            except OSError:
                os.close(descriptor)
                raise
            os.close(descriptor)

    def _is_current(self, descriptor: int) -> bool:
        with suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        return False

    def _is_full(self, descriptor: int, more: int) -> bool:
        """True, and the file is put aside, if these lines belong into a new one."""
        found = os.fstat(descriptor)
        if not found.st_size or not (self._is_too_large(found.st_size + more) or self._is_of_yesterday(found.st_mtime)):
            return False
        _put_aside(self.path)
        return True

    def _is_too_large(self, size: int) -> bool:
        return self.rotation.bytes is not None and size > self.rotation.bytes

    def _is_of_yesterday(self, written_at: float) -> bool:
        if not self.rotation.daily or self._now is None:
            return False
        return datetime.fromtimestamp(written_at, UTC).date() < self._now().astimezone(UTC).date()


def make(options: Options) -> FileSink:
    """The sink for a file. Raises SinkError, with the remedy."""
    if options.gzip or options.signing_secret:
        raise SinkError(
            "REVIEWROOM_AUDIT_GZIP and REVIEWROOM_AUDIT_SIGNING_SECRET are for http(s):// sinks only. Leave them empty."
        )
    return FileSink(_path(options.url), _rotation(options.rotate), options.outbound.now)


def _path(url: str) -> Path:
    parts = urlsplit(url)
    path = Path(unquote(parts.path))
    if parts.netloc not in ("", "localhost") or parts.query or parts.fragment or not path.is_absolute():
        raise SinkError("A file sink is written with three slashes and a whole path: file:///var/audit.jsonl.")
    if not path.name or path.is_dir():
        raise SinkError(f"{path} is a directory: name a file in it.")
    return path


def _rotation(text: str) -> Rotation:
    if not text:
        return Rotation()
    if text == DAILY:
        return Rotation(daily=True)
    if size := _SIZE.fullmatch(text):
        return Rotation(bytes=int(size[1]) * _UNITS[size[2]])
    raise SinkError("REVIEWROOM_AUDIT_ROTATE is a size like 100MB, or daily, or empty for never.")


def _append_whole(descriptor: int, lines: bytes) -> None:
    """All of the lines or nothing of them."""
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        lines = b"\n" + lines
    try:
        written = os.write(descriptor, lines)
    except OSError:
        os.ftruncate(descriptor, size)
        raise
    if written != len(lines):
        os.ftruncate(descriptor, size)
        raise OSError(None, "only a part of the line could be written")


def _put_aside(path: Path) -> None:
    """Gives the file the next free number. Under its lock only: who else would write it waits, and looks again."""
    numbers = [int(end) for name in path.parent.glob("*") if (end := name.name.removeprefix(f"{path.name}.")).isdigit()]
    path.rename(path.with_name(f"{path.name}.{max(numbers, default=0) + 1:06d}"))
    _sync_directory(path.parent)


def _sync_directory(directory: Path) -> None:
    """Makes the name of a new file durable, not only its content."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
