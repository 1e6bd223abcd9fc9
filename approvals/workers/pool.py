"""Runs one function over many pieces of work, a few at a time, each in a thread with a connection of its own."""

import logging
import signal
from collections import deque
from collections.abc import Callable, Container, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Generic, TypeVar

from django.db import close_old_connections, connections

from approvals.workers.counts import Counts

T = TypeVar("T")
R = TypeVar("R")
Progress = Callable[[int], None]
LOOK_AGAIN_SECONDS = 1.0
"""How long a free place waits for the others before it looks for work that has become due meanwhile."""
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


def keep_busy(
    due: Callable[[int], Iterable[T]],
    one: Callable[[T], str],
    *,
    at_most: int,
    concurrency: int,
    resting: Container[str],
    progress: Progress | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Counts:
    """Calls `one` for what `due(limit)` gives, and asks again when that is used up, until nothing is left to do.

    A piece that hangs holds up its own place only: the others are filled anew meanwhile. What `due` gave is worked
    through in its order before it is asked again, so whoever takes turns there takes turns here. A piece whose word
    is in `resting` is left alone for the rest of this call.
    """
    pieces = _Pieces(due, at_most=at_most, resting=resting, progress=progress, should_stop=should_stop)
    if concurrency <= 1:
        while (piece := pieces.take()) is not None:
            pieces.put_down(piece, _guarded(one, piece))
        return pieces.counts
    with ThreadPoolExecutor(concurrency, initializer=leave_signals_to_the_main_thread) as threads:
        running: dict[Future[str], T] = {}
        while True:
            while len(running) < concurrency and (piece := pieces.take()) is not None:
                running[threads.submit(_in_thread, partial(_guarded, one), piece)] = piece
            if not running:
                return pieces.counts
            for future in wait(running, timeout=LOOK_AGAIN_SECONDS, return_when=FIRST_COMPLETED).done:
                pieces.put_down(running.pop(future), future.result())


class _Pieces(Generic[T]):
    """The pieces of one call of `keep_busy`: what is next, what is in hand, what rests, what came of the others."""

    def __init__(
        self,
        due: Callable[[int], Iterable[T]],
        *,
        at_most: int,
        resting: Container[str],
        progress: Progress | None,
        should_stop: Callable[[], bool],
    ) -> None:
        self.counts = Counts()
        self._due = due
        self._at_most = at_most
        self._resting = resting
        self._progress = progress
        self._should_stop = should_stop
        self._queue: deque[T] = deque()
        self._in_hand: set[T] = set()
        self._tired: set[T] = set()

    def take(self) -> T | None:
        """Gives the next piece; None if there is none now."""
        left = self._at_most - self.counts.done - len(self._in_hand)
        if left <= 0 or self._should_stop():
            return None
        busy = self._in_hand | self._tired
        if not self._queue:
            self._queue.extend(piece for piece in self._due(left + len(busy)) if piece not in busy)
        while self._queue:
            piece = self._queue.popleft()
            if piece not in busy:
                self._in_hand.add(piece)
                return piece
        return None

    def put_down(self, piece: T, word: str) -> None:
        """Counts what came of a piece."""
        self._in_hand.remove(piece)
        self.counts[word] += 1
        if word in self._resting:
            self._tired.add(piece)
        if self._progress is not None:
            self._progress(1)


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
