"""Child processes of one terminal: started together, watched, and stopped together."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TextIO

STOP_SECONDS = 30  # a worker may be in the middle of a send, which it finishes
POLL_SECONDS = 0.2
LAST_LINES = 20


@dataclass
class Child:
    """One process; what it prints is shown with its name in front."""

    name: str
    command: Sequence[str]
    last_lines: deque[str] = field(default_factory=lambda: deque(maxlen=LAST_LINES))
    _process: subprocess.Popen[str] | None = None
    _reader: threading.Thread | None = None

    def start(self) -> None:
        """Starts the process in a session of its own, so that Ctrl-C reaches only the parent."""
        self._process = subprocess.Popen(  # noqa: S603 - our own commands
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
            preexec_fn=_end_with_parent,
        )
        self._reader = threading.Thread(target=self._show, args=[self._process.stdout], daemon=True)
        self._reader.start()

    def _show(self, stream: TextIO) -> None:
        with stream:
            for line in stream:
                self.last_lines.append(line.rstrip())
                sys.stdout.write(f"{self.name:>7} | {line.rstrip()}\n")
                sys.stdout.flush()

    @property
    def exit_code(self) -> int | None:
        """The exit code once it has ended."""
        return self._process.poll() if self._process else None

    def ask_to_stop(self) -> None:
        """Sends SIGTERM."""
        if self._process and self.exit_code is None:
            self._process.terminate()

    def wait(self, seconds: float) -> None:
        """Waits for the end; kills what does not end in time."""
        if self._process is None:
            return
        try:
            self._process.wait(max(seconds, 0))
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._reader.join(1)


def _end_with_parent() -> None:
    """Asks the kernel for SIGTERM when the parent dies, however it dies."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


def first_to_end(children: Sequence[Child], stopped: threading.Event) -> Child | None:
    """Blocks until a child ends, which it gives, or until `stopped` is set (None)."""
    while not stopped.wait(POLL_SECONDS):
        for child in children:
            if child.exit_code is not None:
                return child
    return None


def stop_all(children: Sequence[Child], seconds: float = STOP_SECONDS) -> None:
    """Stops the children one after the other, the last started first: a worker may still need the others."""
    deadline = time.monotonic() + seconds
    for child in reversed(children):
        child.ask_to_stop()
        child.wait(deadline - time.monotonic())
