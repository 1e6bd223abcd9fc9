"""One world explored and judged, in a process of its own."""

import resource
import sys
import time
from typing import NamedTuple

from tests.model.explore import Graph, Progress
from tests.model.properties import NEEDS, REST
from tests.model.record import World
from tests.model.steps import REMOVED_ANOTHERS, REPLACED_LATER
from tests.model.told import way

OF_TWO = (REPLACED_LATER, REMOVED_ANOTHERS)


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


def _verdict(promise: str, graph: Graph, broken: dict[str, list[str]]) -> str:
    if graph.world.drafts == 1 and promise in OF_TWO:
        return "takes two drafts"
    if promise in broken:
        steps = f"broken after {len(broken[promise])} steps"
        return f"BROKEN: {steps}" if promise in graph.promised else f"not promised here; {steps}"
    if promise in graph.promised:
        return "holds"
    return "not promised here" if promise == REST else "holds, though not promised here"


def _progress(world: World) -> Progress:
    last = time.monotonic()

    def said(depth: int, states: int) -> None:
        nonlocal last
        if time.monotonic() - last > 10:
            last = time.monotonic()
            sys.stderr.write(f"  {world}: depth {depth}, {states:,} states\n")

    return said
