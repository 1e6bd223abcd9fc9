"""Which resources a channel's pattern names. A `*` stands for exactly one segment."""

from itertools import zip_longest

WILDCARD = "*"


def matches(pattern: str, resource: str) -> bool:
    """Whether `pattern` (or a fixed resource) names `resource`."""
    segments = resource.split("/")
    return all(map(_can_be_named, segments)) and _pairwise(pattern.split("/"), segments)


def overlap(a: str, b: str) -> bool:
    """Whether some resource is named by both: each may be a pattern or a fixed resource."""
    return all(x == y or (WILDCARD in (x, y) and x and y) for x, y in zip_longest(a.split("/"), b.split("/")))


def _pairwise(pattern: list[str], segments: list[str]) -> bool:
    pairs = zip_longest(pattern, segments)
    return all(wanted == found or (wanted == WILDCARD and found is not None) for wanted, found in pairs)


def _can_be_named(segment: str) -> bool:
    # Dot segments are resolved by every URL parser on the way: they would name another resource.
    # A literal `*` is kept for patterns, so that a resource can never be mistaken for one.
    return segment not in ("", ".", "..", WILDCARD) and segment.isprintable()
