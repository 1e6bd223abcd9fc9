"""Calls at the same instant, each in a thread with a connection of its own."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from django.db import connection, connections, transaction

from approvals.domain.errors import Refusal
from tests.support.processes import until

WAIT_SECONDS = 60.0


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Runs calls at once and gives what each gave, or the Refusal it met. Any other error is the test's."""
    line = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        line.wait(WAIT_SECONDS)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        found = [pool.submit(in_thread, run, call) for call in calls]
        return [future.result(WAIT_SECONDS) for future in found]


def in_thread(function: Callable[..., Any], *given: Any) -> Any:
    """Calls, gives the result or the Refusal, and closes the thread's connections."""
    try:
        return function(*given)
    except Refusal as refusal:
        return refusal
    finally:
        connections.close_all()


@contextmanager
def aside(call: Callable[[], Any]) -> Iterator[Future[Any]]:
    """Runs a call in a thread while the block runs; leaving the block waits for it."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(in_thread, call)
        yield future
        future.result(WAIT_SECONDS)


@contextmanager
def holding_the_lock(model: type, key: Any) -> Iterator[None]:
    """Holds what a writer of this row needs: its lock on PostgreSQL, the whole database's on SQLite."""
    with transaction.atomic():
        model.objects.select_for_update().get(pk=key)  # type: ignore[attr-defined]
        yield


class Waiter:
    """A call that will have to wait for a lock, and whether it already does."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._pid: int | None = None
        self._began = threading.Event()

    def __call__(self) -> Any:
        if connection.vendor != "postgresql":
            with connection.execute_wrapper(self._told):
                return self._call()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            self._pid = cursor.fetchone()[0]
        self._began.set()
        return self._call()

    def waits(self) -> None:
        """Returns once the call stands before the lock."""
        assert self._began.wait(WAIT_SECONDS)
        if self._pid is not None:
            until(self._is_blocked)

    def _told(self, execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if sql.startswith("BEGIN"):
            self._began.set()
        return execute(sql, *rest)

    def _is_blocked(self) -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT cardinality(pg_blocking_pids(%s)) > 0", [self._pid])
            return bool(cursor.fetchone()[0])
