"""How long one call takes: the median of several rounds, so that one slow round does not count."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

ROUNDS = 5
ROUND_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Timing:
    """One line of the report."""

    name: str
    seconds_per_call: float

    def __str__(self) -> str:
        per_second = 1 / self.seconds_per_call
        return f"{self.name:<44} {self.seconds_per_call * 1e6:>12,.1f} µs {per_second:>12,.0f} /s"


def measure(name: str, call: Callable[[], object]) -> Timing:
    """Calls again and again; gives the median time of one call."""
    call()
    return Timing(name, statistics.median(_round(call) for _ in range(ROUNDS)))


def _round(call: Callable[[], object]) -> float:
    started, calls = time.perf_counter(), 0
    while (passed := time.perf_counter() - started) < ROUND_SECONDS:
        call()
        calls += 1
    return passed / calls
