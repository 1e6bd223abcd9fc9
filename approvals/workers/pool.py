"""Runs one function over many pieces of work, a few at a time, each in a thread with a connection of its own."""

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import close_old_connections, connections

from approvals.workers.counts import Counts

T = TypeVar("T")
Progress = Callable[[int], None]
log = logging.getLogger(__name__)


def spread(work: Iterable[T], one: Callable[[T], str], *, concurrency: int, progress: Progress | None = None) -> Counts:
    """Calls `one` for each piece and counts the words it gives. A piece that raises counts as `failed`.

    With a concurrency of 1 everything runs in the caller's thread.
    """
    counts = Counts()
    if concurrency <= 1:
        words: Iterable[str] = (_guarded(one, piece) for piece in work)
        return _counted(words, counts, progress)
    with ThreadPoolExecutor(max_workers=concurrency) as threads:
        return _counted(threads.map(lambda piece: _in_thread(one, piece), work), counts, progress)


def _counted(words: Iterable[str], counts: Counts, progress: Progress | None) -> Counts:
    for word in words:
        counts[word] += 1
        if progress is not None:
            progress(1)
    return counts


def _in_thread(one: Callable[[T], str], piece: T) -> str:
    close_old_connections()
    try:
        return _guarded(one, piece)
    finally:
        connections.close_all()


def _guarded(one: Callable[[T], str], piece: T) -> str:
    """Leaves the row recoverable and goes on with the next: whatever was half done is settled by the sweeper."""
    try:
        return one(piece)
    except Exception:
        log.exception("work on %s failed", piece)
        return "failed"
