"""`make model`: explores every world, prints state counts and verdicts, and tells the shortest duplicate."""

import sys
import time
from concurrent.futures import ProcessPoolExecutor

from tests.model.explore import Graph
from tests.model.properties import ONE_WRITE
from tests.model.record import World
from tests.model.runs import Explored, explored
from tests.model.steps import REPLACED_LATER
from tests.model.told import way
from tests.model.worlds import DUPLICATE, OVERWRITING, WORLDS

PROCESSES = 2


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    began = time.monotonic()
    say(f"Exploring {len(WORLDS)} worlds in {PROCESSES} processes.")
    with ProcessPoolExecutor(PROCESSES, max_tasks_per_child=1) as pool:
        running = [pool.submit(explored, world) for world in WORLDS]
        results = [future.result() for future in running]
    for result in results:
        _say(result)
    _print_story("The shortest duplicate", DUPLICATE, ONE_WRITE)
    _print_story("The shortest way to overwrite what is newer", OVERWRITING, REPLACED_LATER)
    states = sum(result.states for result in results)
    violated = sum(len(result.violations) for result in results)
    verdict = f"{violated} promises are BROKEN." if violated else "every promise holds."
    say(f"\n{states:,} states in {len(results)} worlds, {time.monotonic() - began:.0f} s: {verdict}")
    return 1 if violated else 0


def _say(result: Explored) -> None:
    say(f"\n{result.world}")
    figures = f"{result.states:,} states, {result.steps:,} steps, depth {result.depth}"
    say(f"  {figures}, {result.seconds:.0f} s of one core, {result.megabytes} MB")
    for promise, verdict in result.verdicts.items():
        say(f"  {promise}: {verdict}")
    for promise, lines in result.violations.items():
        say(f"  How to break it: {promise}")
        say("\n".join(lines))


def _print_story(what: str, world: World, promise: str) -> None:
    graph = Graph(world).explore(until=promise)
    lines = list(way(graph.way_to(graph.broken[promise])))
    say(f"\n{what} ({world}), {len(lines)} steps:")
    say("\n".join(lines))


if __name__ == "__main__":
    sys.exit(main())
