"""Runs one function over many pieces of work, a few at a time, each in a thread with a connection of its own."""

import logging
import signal
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import close_old_connections, connections

from approvals.workers.counts import Counts

T = TypeVar("T")
R = TypeVar("R")
Progress = Callable[[int], None]
log = logging.getLogger(__name__)


def spread(
    work: Iterable[T],
    one: Callable[[T], str],
    *,
    concurrency: int,
    progress: Progress | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Counts:
    """Calls `one` for each piece and counts the words it gives. A piece that raises counts as `failed`.

    What is not begun when `should_stop` turns true is left: a long batch would outlive the patience of whoever asked
    the worker to end, and be killed in the middle. With a concurrency of 1 everything runs in the caller's thread.
    """
    counts = Counts()

    def unless_stopped(piece: T) -> str | None:
        return None if should_stop() else _guarded(one, piece)

    if concurrency <= 1:
        return _counted(map(unless_stopped, work), counts, progress)
    with ThreadPoolExecutor(concurrency, initializer=leave_signals_to_the_main_thread) as threads:
        return _counted(threads.map(lambda piece: _in_thread(unless_stopped, piece), work), counts, progress)


def leave_signals_to_the_main_thread() -> None:
    """Keeps this thread from catching what asks the program to end.

    Only the main thread acts on a signal, and only if it was itself interrupted while it waits for the others. A
    stopped process that is told to end and then woken would otherwise hand the signal to any thread, and go on.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT))


def _counted(words: Iterable[str | None], counts: Counts, progress: Progress | None) -> Counts:
    for word in words:
        if word is None:
            continue
        counts[word] += 1
        if progress is not None:
            progress(1)
    return counts


def _in_thread(one: Callable[[T], R], piece: T) -> R:
    close_old_connections()
    try:
        return one(piece)
    finally:
        connections.close_all()


def _guarded(one: Callable[[T], str], piece: T) -> str:
    """Leaves the row recoverable and goes on with the next: whatever was half done is settled by the sweeper."""
    try:
        return one(piece)
    except Exception:
        log.exception("work on %s failed", piece)
        return "failed"
