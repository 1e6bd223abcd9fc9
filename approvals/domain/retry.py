"""When to try again: pure functions of the number of attempts and of what the other side asked for."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_SECONDS = re.compile(r"[0-9]{1,32}(?:\.[0-9]{1,32})?")
_LONGEST_DATE = 64  # characters; an HTTP date takes 29


def backoff(attempts: int, *, base: float = 5.0, cap: float = 3600.0, jitter: float) -> float:
    """Gives the seconds to wait after `attempts` tries: doubling from `base`, never above `cap`.

    `jitter` in [0, 1) spreads the wait over its upper half: many failures at once do not return at once, and
    every wait below the cap is still longer than the one before.
    """
    doublings = min(max(attempts - 1, 0), 64)
    return min(base * 2.0**doublings, cap) * (1 + jitter) / 2


def retry_after(header: str | None, now: datetime, cap_seconds: float) -> float | None:
    """Gives the seconds a Retry-After header asks for, within [0, `cap_seconds`]; None for nothing usable.

    Takes seconds, all three HTTP dates (RFC 9110, 10.2.3) and the decimals some servers send. `now` is aware.
    """
    text = (header or "").strip()
    if _SECONDS.fullmatch(text):
        return min(float(text), cap_seconds)
    moment = _http_date(text)
    if moment is None:
        return None
    return min(max((moment - now).total_seconds(), 0.0), cap_seconds)


def _http_date(text: str) -> datetime | None:
    if len(text) > _LONGEST_DATE:
        return None
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None  # the parser raises any of these for text from strangers
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
