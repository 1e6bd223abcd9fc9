"""What the worker commands share: options, a progress bar, one line of counts, SIGTERM, exit codes."""

import json
import signal
import sys
import threading
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import Any, ClassVar

from django.core.management import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from approvals.management.errors import told
from approvals.selectors.attention import WAITING
from approvals.workers import loop
from approvals.workers.counts import Counts

ATTENTION_EXIT_CODE = 3
LARGEST_BATCH = 10_000
MOST_AT_ONCE = 64
EXIT_CODES = (
    "Exit codes: 0 done; 1 something failed; 2 wrong usage; 3 done, but something is parked, unknown, refused or "
    "paused and waits for somebody. SIGTERM and Ctrl-C finish the beat in hand."
)


class WorkerCommand(BaseCommand):
    """Runs beats: one until nothing is due (`--once`), or on a cadence until it is told to stop (`--forever`)."""

    beat: ClassVar[ModuleType]  # of approvals.workers, with `run`
    every_seconds: ClassVar[float] = 1.0
    waiting: ClassVar[tuple[str, ...]] = ()  # what may be left for a person, as `selectors.attention` counts it

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        return super().create_parser(prog_name, subcommand, epilog=EXIT_CODES, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        how_long = parser.add_mutually_exclusive_group()
        how_long.add_argument("--once", action="store_true", help="work on what is due now, then end (default)")
        how_long.add_argument("--forever", action="store_true", help="look for more work until told to stop")
        parser.add_argument("--format", choices=("text", "json"), default="text", help="of the counts (default: text)")
        parser.add_argument(
            "--batch-size", type=_whole(LARGEST_BATCH), metavar="N", help="how much one beat does at most"
        )
        parser.add_argument(
            "--concurrency", type=_whole(MOST_AT_ONCE), metavar="N", help="how many pieces of work at the same time"
        )

    def handle(self, *, forever: bool, format: str, **options: Any) -> None:  # noqa: A002  the option's name
        sizes = {name: value for name in ("batch_size", "concurrency") if (value := options.get(name)) is not None}
        with stopping() as stop, told():
            if forever:
                self.stderr.write("Working until SIGTERM or Ctrl-C.")
                self.go_on(stop, sizes, format)
                return
            counts = self.go_once(stop, sizes, format)
        self.tell(type(self).__module__.rpartition(".")[2], counts, format)
        self.end(counts)

    def go_once(self, stop: threading.Event, sizes: dict[str, int], format: str) -> Counts:  # noqa: A002
        with progress_bar(show=format == "text" and sys.stderr.isatty()) as progress:
            found: Counts = self.beat.run(progress=progress, should_stop=stop.is_set, **sizes)
        return found

    def go_on(self, stop: threading.Event, sizes: dict[str, int], format: str) -> None:  # noqa: A002
        name = self.beat.__name__.rpartition(".")[2]
        cadence = loop.Cadence(name, partial(self.beat.run, **sizes), self.every_seconds)
        loop.forever(stop, report=partial(self.tell, format=format), cadences=(cadence,))

    def tell(self, name: str, counts: Counts, format: str) -> None:  # noqa: A002
        """Prints one line: words for a person, or one JSON object."""
        if format == "json":
            told_counts = {word: counts[word] for word in sorted(counts)}
            line = {"command": name, "counts": told_counts, "waiting": self.left()}
            self.stdout.write(json.dumps(line))
        else:
            words = ", ".join(f"{counts[word]} {word.replace('_', ' ')}" for word in sorted(counts))
            left = ", ".join(f"{number} {word}" for word, number in self.left().items())
            self.stdout.write(
                f"{name}: {words or 'nothing was due'}{f'; waiting for somebody: {left}' if left else ''}"
            )
        self.stdout.flush()

    def left(self) -> dict[str, int]:
        """Gives what waits for a person now; empty if nothing does."""
        return {word: number for word in self.waiting if (number := WAITING[word]())}

    def end(self, counts: Counts) -> None:
        if counts.failed:
            raise CommandError(f"{counts.failed} failed; the log says why. What failed is tried again later.")
        if counts.attention or self.left():
            raise SystemExit(ATTENTION_EXIT_CODE)


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """Gives an event that SIGTERM and Ctrl-C set; a second Ctrl-C ends the program at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def ask(number: int, frame: object) -> None:
        stop.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = {number: signal.signal(number, ask) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def progress_bar(*, show: bool) -> Iterator[Callable[[int], None] | None]:
    """Gives what a beat calls after each piece of work; nothing where nobody watches."""
    if not show:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("working", total=None)
        yield lambda number: bar.advance(task, number)


def _whole(most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= most:
            raise ArgumentTypeError(f"give a whole number from 1 to {most}")
        return int(text)

    return parse
