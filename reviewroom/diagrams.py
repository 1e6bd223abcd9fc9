"""State diagrams for the documentation, drawn from the tables: `python -m reviewroom.diagrams [--check]`."""

import re
import sys
from collections import defaultdict
from pathlib import Path

from approvals.domain.states import MACHINES, Machine

PAGE = Path(__file__).resolve().parent.parent / "docs" / "architecture.md"
BETWEEN_MARKERS = r"(<!-- diagram {name} -->\n).*?(<!-- end of diagram -->)"


def mermaid(machine: Machine) -> str:
    """The machine as a Mermaid state diagram: one arrow per pair of states, its verbs on it."""
    verbs: dict[tuple[str, str], list[str]] = defaultdict(list)
    for edge in machine.edges:
        for source in edge.sources:
            verbs[str(source), str(edge.target)].append(edge.verb)
    arrows = [f"    [*] --> {state}" for state in machine.initial]
    arrows += [f"    {source} --> {target}: {', '.join(names)}" for (source, target), names in verbs.items()]
    arrows += [f"    {state} --> [*]" for state in machine.states if state in machine.terminal()]
    return "\n".join(["```mermaid", "stateDiagram-v2", *arrows, "```", ""])


def drawn(page: str) -> str:
    """The page with every diagram between its markers drawn anew."""
    for machine in MACHINES:
        pattern = BETWEEN_MARKERS.format(name=machine.name)
        diagram = mermaid(machine)
        page, count = re.subn(pattern, rf"\g<1>{diagram}\g<2>", page, flags=re.DOTALL)
        if count != 1:
            raise ValueError(f"{PAGE.name} needs one pair of markers for the diagram {machine.name}.")
    return page


def main(arguments: list[str]) -> int:
    """Writes the page; with `--check` only says whether it is stale (exit code 1)."""
    page = PAGE.read_text(encoding="utf-8")
    fresh = drawn(page)
    if "--check" not in arguments:
        PAGE.write_text(fresh, encoding="utf-8")
    elif fresh != page:
        print("docs/architecture.md is stale: run `make diagrams`.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
