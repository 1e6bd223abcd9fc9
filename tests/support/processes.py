"""Second processes of the product: started, held at a line until a test says go, killed in the middle."""

import contextlib
import json
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

START = """
import json, os, sys
import django
django.setup()
from django.db import connection
exec(os.environ["RACE_SCRIPT"])
"""
BEAT = """
from importlib import import_module
name, options, prelude = json.loads(os.environ["RACE_GIVEN"])
beat = import_module(f"approvals.workers.{name}")
exec(prelude)
connection.ensure_connection()
print("ready", flush=True)
sys.stdin.readline()
print(json.dumps(beat.run(**options)), flush=True)
"""
LONGEST_SECONDS = 60.0


class Child:
    """A process with the product's settings that runs a script; they talk in lines.

    The script has `json`, `os`, `sys` and `connection`, and reads what it was given from `RACE_GIVEN`.
    """

    def __init__(self, script: str, environment: Mapping[str, str], given: object = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", START],
            env={**environment, "RACE_SCRIPT": script, "RACE_GIVEN": json.dumps(given)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.communicate()

    def go(self) -> None:
        """Lets it run on from where it waits for a line."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def wait_for(self, word: str) -> Self:
        line = self._line()
        assert line == word, line or self._complaint()
        return self

    def counts(self) -> dict[str, int]:
        """Gives what a beat counted, once it is done."""
        line = self._line()
        assert line, self._complaint()
        found: dict[str, int] = json.loads(line)
        return found

    def kill(self) -> None:
        """Ends it as a power cut would: nothing is cleaned up."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def _line(self) -> str:
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], LONGEST_SECONDS)
        return self.process.stdout.readline().strip() if ready else ""

    def _complaint(self) -> str:
        self.process.kill()
        return self.process.communicate()[1]


def beat(name: str, environment: Mapping[str, str], *, prelude: str = "", **options: Any) -> Child:
    """Gives one beat of a worker as a process that says `ready` and runs at a word.

    `prelude` is Python that it runs first, with the module at hand as `beat`.
    """
    return Child(BEAT, environment, [name, {"concurrency": 1, **options}, prelude])


def run_beat(name: str, environment: Mapping[str, str], **given: Any) -> dict[str, int]:
    """Runs one beat in a process of its own and gives its counts."""
    with beat(name, environment, **given) as child:
        child.wait_for("ready").go()
        return child.counts()


@contextlib.contextmanager
def side_by_side(*children: Child) -> Iterator[None]:
    """Holds processes at the same line, lets them go together, and ends them."""
    with contextlib.ExitStack() as stack:
        for child in children:
            stack.enter_context(child)
        for child in children:
            child.wait_for("ready")
        for child in children:
            child.go()
        yield


def until(true: Callable[[], Any], *, seconds: float = 20.0) -> Any:
    """Polls until something is true and gives it. Fails the test at the deadline."""
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, f"not true after {seconds} seconds"
        time.sleep(0.02)
    return found
