"""`make model`: explores every world, prints state counts and verdicts, and tells the shortest duplicate."""

import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from tests.model.explore import Graph
from tests.model.properties import NEEDS, ONE_WRITE, REST
from tests.model.told import way
from tests.model.worlds import DUPLICATE, WORLDS
from tests.model.record import World

PROCESSES = 2


class Explored(NamedTuple):
    """What came of one world."""

    world: World
    states: int
    steps: int
    depth: int
    seconds: float
    megabytes: int
    verdicts: dict[str, str]
    violations: dict[str, list[str]]


def explored(world: World) -> Explored:
    graph = Graph(world).explore(_progress(world))
    if REST in graph.promised and not graph.broken and (restless := graph.restless()):
        graph.broken[REST] = restless[0]
    broken = {promise: list(way(graph.way_to(state))) for promise, state in graph.broken.items()}
    return Explored(
        world=world,
        states=len(graph.parents),
        steps=graph.step_count,
        depth=graph.depth,
        seconds=time.process_time(),
        megabytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        verdicts={promise: _verdict(promise, graph, broken) for promise in NEEDS},
        violations={promise: lines for promise, lines in broken.items() if promise in graph.promised},
    )


def main() -> int:
    began = time.monotonic()
    print(f"Exploring {len(WORLDS)} worlds in {PROCESSES} processes.", flush=True)
    with ProcessPoolExecutor(PROCESSES, max_tasks_per_child=1) as pool:
        running = [pool.submit(explored, world) for world in WORLDS]
        results = [future.result() for future in running]
    for result in results:
        _print(result)
    _print_duplicate()
    states = sum(result.states for result in results)
    violated = sum(len(result.violations) for result in results)
    print(f"\n{states:,} states in {len(results)} worlds, {time.monotonic() - began:.0f} s: ", end="")
    print(f"{violated} promises are BROKEN." if violated else "every promise holds.")
    return 1 if violated else 0


def _verdict(promise: str, graph: Graph, broken: dict[str, list[str]]) -> str:
    if promise in broken:
        steps = f"broken after {len(broken[promise])} steps"
        return f"BROKEN: {steps}" if promise in graph.promised else f"not promised here; {steps}"
    if promise in graph.promised:
        return "holds"
    return "not promised here" if promise == REST else "holds, though not promised here"


def _progress(world: World):  # noqa: ANN202  a closure over the time of its last word
    last = time.monotonic()

    def said(depth: int, states: int) -> None:
        nonlocal last
        if time.monotonic() - last > 10:
            last = time.monotonic()
            print(f"  {world}: depth {depth}, {states:,} states", file=sys.stderr, flush=True)

    return said


def _print(result: Explored) -> None:
    print(f"\n{result.world}")
    figures = f"{result.states:,} states, {result.steps:,} steps, depth {result.depth}"
    print(f"  {figures}, {result.seconds:.0f} s of one core, {result.megabytes} MB")
    for promise, verdict in result.verdicts.items():
        print(f"  {promise}: {verdict}")
    for promise, lines in result.violations.items():
        print(f"  How to break it: {promise}")
        print("\n".join(lines))


def _print_duplicate() -> None:
    graph = Graph(DUPLICATE).explore(until=ONE_WRITE)
    lines = list(way(graph.way_to(graph.broken[ONE_WRITE])))
    print(f"\nThe shortest duplicate ({DUPLICATE}), {len(lines)} steps:")
    print("\n".join(lines))


if __name__ == "__main__":
    sys.exit(main())
