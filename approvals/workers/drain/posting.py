"""The network's half of a drain: a thread with an event loop that posts, and never touches the database."""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Self

from approvals.connectors.base import Deadline
from approvals.services.draining import MARK_AT_MOST, Taken
from approvals.sinks.base import Sink, SinkAnswer
from approvals.workers.pool import leave_signals_to_the_main_thread

POST_SECONDS = 10.0
MOST_UNNOTED = 2 * MARK_AT_MOST
"""No post begins while so many answers are not in the database: one update under way, one being collected."""
TOLD_AFTER_SECONDS = 0.02
log = logging.getLogger(__name__)

Answered = tuple[Taken, SinkAnswer | None]  # None: not posted


@dataclass(frozen=True, slots=True)
class Chain:
    """Events of one approval, in order: each is posted after the one before it was taken. One lease for all."""

    events: tuple[Taken, ...]
    send_by: float  # an instant of `boottime`: no first byte leaves later, whatever becomes of this process


class Posting:
    """Posts chains side by side on `connections` at once; enter it to begin, leave it to end.

    Once the sink is closed to all, or has failed so often in a row that it is down, or `stop` was called, whatever
    is not begun comes back unposted.
    """

    def __init__(self, sink: Sink, connections: int) -> None:
        self._sink = sink
        self._connections = connections
        self._patience = 2 * connections
        self._answers: SimpleQueue[list[Answered] | BaseException] = SimpleQueue()
        self._told: list[Answered] = []
        self._failures_in_a_row = 0
        self._unnoted = 0
        self._fed = 0
        self.is_over = False
        self._loop = asyncio.new_event_loop()
        self._work: asyncio.Queue[Chain] = asyncio.Queue()
        self._end = asyncio.Event()
        self._room = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="drain-posting", daemon=True)

    # Called by the database's half, in its own thread

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._call(self._end.set)
        self._thread.join()

    def feed(self, chains: Iterable[Chain]) -> None:
        """Hands chains over; every event of them comes back by `answers`."""
        self._call(self._take, list(chains))

    def answers(self, seconds: float) -> list[Answered]:
        """Gives what was answered since, waiting at most so long for something. Raises what ended the loop."""
        try:
            found = self._answers.get(timeout=seconds)
        except Empty:
            return []
        if isinstance(found, BaseException):
            raise found
        return found

    def noted(self, count: int) -> None:
        """Tells that so many answers are in the database."""
        self._call(self._make_room, count)

    def stop(self) -> None:
        """Begins nothing more; what is under way is finished."""
        self.is_over = True

    def _call(self, what: Callable[..., object], *given: object) -> None:
        with suppress(RuntimeError):  # the loop has ended; `answers` says why
            self._loop.call_soon_threadsafe(what, *given)

    # Runs in the loop's thread

    def _run(self) -> None:
        leave_signals_to_the_main_thread()
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._main())
        except BaseException as error:
            self._answers.put(error)

    async def _main(self) -> None:
        async with self._sink:
            workers = [asyncio.create_task(self._post_chains()) for _ in range(self._connections)]
            ended = asyncio.create_task(self._end.wait())
            done, _ = await asyncio.wait([ended, *workers], return_when=asyncio.FIRST_COMPLETED)
            for task in (ended, *workers):
                task.cancel()
            await asyncio.gather(ended, *workers, return_exceptions=True)
            for task in done - {ended}:
                task.result()  # a worker only ends by a fault of the program

    def _take(self, chains: list[Chain]) -> None:
        for chain in chains:
            self._fed += len(chain.events)
            self._work.put_nowait(chain)

    def _make_room(self, count: int) -> None:
        self._unnoted -= count
        self._room.set()

    async def _post_chains(self) -> None:
        while True:
            chain = await self._work.get()
            is_taken = True
            for event in chain.events:
                answer = await self._post(event, chain.send_by) if is_taken else None
                is_taken = answer is not None and answer.ok
                self._tell(event, answer)

    async def _post(self, event: Taken, send_by: float) -> SinkAnswer | None:
        while self._unnoted >= MOST_UNNOTED:
            self._room.clear()
            await self._room.wait()
        deadline = Deadline(POST_SECONDS, send_by=send_by)
        if self.is_over or deadline.too_late:
            return None
        try:
            answer = await self._sink.post(event.event_id, event.payload, deadline)
        except Exception as error:
            log.exception("event %s could not be posted", event.event_id)
            answer = SinkAnswer(retry=True, reason=f"The sink failed: {type(error).__name__}.")
        self._judge(answer)
        return answer

    def _judge(self, answer: SinkAnswer) -> None:
        """Ends the beat for a sink that is closed or down: a whole queue would knock in vain."""
        self._failures_in_a_row = self._failures_in_a_row + 1 if answer.retry else 0
        if answer.pause or self._failures_in_a_row >= self._patience:
            self.is_over = True

    def _tell(self, event: Taken, answer: SinkAnswer | None) -> None:
        """Collects answers: waking the other thread for each would cost more than posting."""
        if not self._told:
            self._loop.call_later(TOLD_AFTER_SECONDS, self._hand_over)
        self._told.append((event, answer))
        self._unnoted += 1
        self._fed -= 1
        if len(self._told) >= MARK_AT_MOST or not self._fed:
            self._hand_over()

    def _hand_over(self) -> None:
        if self._told:
            told, self._told = self._told, []
            self._answers.put(told)
