"""Time left: plain over an hour, amber under it, red under 15 minutes, always with words."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from approvals.web import words

SOON = timedelta(hours=1)
LAST = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Expiry:
    """`level` is `none`, `plain`, `soon`, `last` or `over`."""

    level: str
    words: str
    at: datetime | None = None


def expiry(expires_at: datetime | None, now: datetime) -> Expiry:
    """Gives the time left until `expires_at`; the very instant itself is over."""
    if expires_at is None:
        return Expiry("none", "no expiry")
    left = expires_at - now
    if left <= timedelta(0):
        return Expiry("over", "expired", expires_at)
    level = "last" if left < LAST else "soon" if left < SOON else "plain"
    return Expiry(level, words.span(left), expires_at)
