"""Pure functions: reading, binding and looking at payloads of a usual and of a large size."""

import json
from collections.abc import Iterator

from approvals.domain.binding import TargetRef, bind, load
from approvals.domain.strict_json import parse_json
from approvals.domain.visible import warnings
from bench.timing import Timing, measure

TARGET = TargetRef(connector="http", account="bench", resource="item")
SENTENCE = "The lift in building 4 stops between two floors. "


def payload(sentences: int) -> dict[str, object]:
    """A ticket of about 50 bytes a sentence."""
    return {"summary": "Lift out of order", "details": [SENTENCE * 10] * (sentences // 10), "priority": 3}


def timings() -> Iterator[Timing]:
    """One line per function and size."""
    for label, content in (("2 kB", payload(40)), ("200 kB", payload(4000))):
        raw = json.dumps(content)
        bound = bind(operation="ticket.create", target=TARGET, payload=content)
        yield measure(f"read strictly, {label}", lambda raw=raw: parse_json(raw))
        yield measure(
            f"bind and digest, {label}",
            lambda content=content: bind(operation="ticket.create", target=TARGET, payload=content).digest,
        )
        yield measure(f"load and digest again, {label}", lambda bound=bound: load(bound.canonical).digest)
        yield measure(f"look for invisible characters, {label}", lambda content=content: warnings(content))
