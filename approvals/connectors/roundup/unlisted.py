"""Issues that no search lists, because somebody retired them: told by the gaps in the numbers of a time.

Roundup's REST interface searches among living issues only, and has no way to ask for the others, but it answers a
GET for each of them. Without this a ticket that was made and retired before anybody looked would be called absent,
and sending it again would make a second one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from approvals.connectors.answers import Answer, Response
from approvals.connectors.roundup.answers import data

PAGE = 500  # of the newest issues; a time that holds more cannot be told
NEWEST = f"?@sort=-id&@page_size={PAGE}&@fields=creation"
MOST = 100  # issues read one by one; more gaps than that cannot be told
MISSES = 3  # numbers in a row, above the newest listed, that do not exist: behind them there is nothing
CLOCK_MARGIN = timedelta(minutes=2)  # by which our clock and the tracker's may run apart
_DATE = "%Y-%m-%d.%H:%M:%S"


class Seen(StrEnum):
    OURS = "ours"
    ANOTHER = "another"
    NOTHING = "nothing"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Numbers:
    """The numbers to read one by one: the gaps, and then those above the newest for as long as they exist."""

    gaps: tuple[int, ...]
    newest: int

    def __iter__(self) -> Iterator[int]:
        yield from self.gaps
        yield from range(self.newest + 1, self.newest + 1 + MOST)


def numbers(listed: list[Any], begun_at: datetime | None) -> Numbers:
    """The numbers that an issue made since then may have. Raises ValueError where that cannot be told."""
    if begun_at is None:
        raise ValueError("it is not known when the first attempt began")
    made = {int(item["id"]): datetime.strptime(item["creation"], _DATE).replace(tzinfo=UTC) for item in listed}
    earlier = [number for number, at in made.items() if at < begun_at - CLOCK_MARGIN]
    if not earlier and len(made) >= PAGE:
        raise ValueError(f"more than {PAGE} issues were made since the first attempt")
    newest = max(made, default=0)
    gaps = tuple(number for number in range(max(earlier, default=0) + 1, newest) if number not in made)
    if len(gaps) > MOST:
        raise ValueError(f"{len(gaps)} issues of that time are in no search")
    return Numbers(gaps, newest)


def read(answer: Answer, id_property: str, delivery_id: str) -> Seen:
    """Whose issue a number is."""
    if isinstance(answer, Response) and answer.status == 404:
        return Seen.NOTHING
    try:
        shown = data(answer)["attributes"][id_property]
    except (LookupError, TypeError, ValueError):
        return Seen.UNREADABLE
    return Seen.OURS if shown == delivery_id else Seen.ANOTHER
