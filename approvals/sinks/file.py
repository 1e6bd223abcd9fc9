"""`file:///path`: one event a line, on disk before it counts as taken."""

import asyncio
import fcntl
import os
from pathlib import Path
from uuid import UUID

from approvals.connectors.base import Deadline
from approvals.sinks.base import Sink, SinkAnswer


class FileSink(Sink):
    """Appends. Several processes may share the file; a line cut off by a crash is closed before the next one."""

    def __init__(self, path: Path) -> None:
        self.path = path

    async def post(self, event_id: UUID, payload: bytes, deadline: Deadline) -> SinkAnswer:
        if b"\n" in payload:
            return SinkAnswer(park=True, reason="The event holds a line break and would be two lines.")
        try:
            await asyncio.to_thread(self._append, payload + b"\n")
        except OSError as exc:
            return SinkAnswer(retry=True, reason=f"{self.path} cannot be written: {exc.strerror}.")
        return SinkAnswer(ok=True, reason="Written and flushed to disk.")

    def _append(self, line: bytes) -> None:
        is_new = not self.path.exists()
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            _append_whole(descriptor, line)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if is_new:
            _sync_directory(self.path.parent)


def _append_whole(descriptor: int, line: bytes) -> None:
    """All of the line or nothing of it."""
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        line = b"\n" + line
    try:
        written = os.write(descriptor, line)
    except OSError:
        os.ftruncate(descriptor, size)
        raise
    if written != len(line):
        os.ftruncate(descriptor, size)
        raise OSError(None, "only a part of the line could be written")


def _sync_directory(directory: Path) -> None:
    """Makes the name of a new file durable, not only its content."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
