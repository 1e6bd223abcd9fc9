"""The worker commands as processes: stopped and woken, ended and killed, and asked what they counted."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from tests.support import stations
from tests.support.processes import until

ROOT = Path(__file__).resolve().parent.parent.parent
LONGEST_SECONDS = 120.0  # on a machine that has much else to do; what is waited for is mostly there in one


class Worker:
    """`manage.py COMMAND ...` in the environment given, without the system checks, which take longer than the rest.

    With a `station` of `tests.support.stations` it stops itself there; `skew` sets its wall clock wrong by so many
    seconds; `busy` is how long it waits for another writer of a SQLite file.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        command: str,
        *words: str,
        station: str | None = None,
        skew: float | None = None,
        busy: int | None = None,
    ) -> None:
        wanted = {stations.STATION: station, stations.SKEW: skew, stations.BUSY: busy}
        arranged = {name: str(value) for name, value in wanted.items() if value is not None}
        program = ["-m", "tests.support.stations"] if arranged else ["manage.py"]
        self._out = tempfile.TemporaryFile()  # noqa: SIM115  closed with the process
        self._err = tempfile.TemporaryFile()  # noqa: SIM115  likewise
        self.process = subprocess.Popen(
            [sys.executable, *program, command, "--skip-checks", *words],
            cwd=ROOT,
            env={**environment, **arranged},
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            stderr=self._err,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        self._out.close()
        self._err.close()

    # What it says

    @property
    def output(self) -> str:
        return _all_of(self._out)

    @property
    def complaints(self) -> str:
        return _all_of(self._err)

    def reports(self) -> list[dict[str, Any]]:
        """Gives the lines of JSON that it printed so far."""
        return [json.loads(line) for line in self.output.splitlines() if line.endswith("}")]

    def complains(self, words: str) -> None:
        """Returns once it has written these words to its log."""
        self._until(lambda: words in self.complaints)

    # What is done to it

    def at_its_station(self) -> Self:
        """Returns once it has stopped."""
        self._until(self._has_stopped)
        return self

    def stop(self) -> None:
        """Stops it (SIGSTOP) wherever it is."""
        self.process.send_signal(signal.SIGSTOP)
        self.at_its_station()

    def wake(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Ends it as a power cut would: nothing is cleaned up."""
        self.process.kill()
        self.process.wait(LONGEST_SECONDS)

    def ask_to_end(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def ends(self) -> int:
        """Gives its exit code, once it has ended."""
        try:
            return self.process.wait(LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {LONGEST_SECONDS} seconds:\n{self.complaints}") from None

    def ends_with(self, code: int) -> None:
        """Waits until it has ended, and fails the test with all it said if the exit code is another."""
        found = self.ends()
        assert found == code, f"exit code {found}:\n{self.output}{self.complaints}"

    def counted(self) -> dict[str, int]:
        """Gives the counts of all beats together, once it has ended."""
        code = self.ends()
        assert code in (0, 3), f"exit code {code}:\n{self.complaints}"
        return add(report["counts"] for report in self.reports())

    def _has_stopped(self) -> bool:
        running = self.process.poll() is None
        return running and os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOHANG) is not None

    def _until(self, true: Any) -> None:
        def still() -> Any:
            ended = self.process.poll() is not None
            found = true()
            assert found or not ended, f"it ended:\n{self.output}{self.complaints}"
            return found

        until(still, seconds=LONGEST_SECONDS)


def add(counts: Any) -> dict[str, int]:
    """Adds counts up, word by word."""
    total: dict[str, int] = {}
    for found in counts:
        for word, number in found.items():
            total[word] = total.get(word, 0) + number
    return total


def _all_of(stream: Any) -> str:
    """Reads a file that a process writes to, without moving the place where it writes."""
    size = os.fstat(stream.fileno()).st_size
    return os.pread(stream.fileno(), size, 0).decode(errors="replace")
