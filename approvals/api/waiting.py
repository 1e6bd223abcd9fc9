"""Long polling: a reader waits for a draft to change, without a transaction, in one of a few places.

A waiting reader holds a thread of the server, so there are fewer places than threads. Who finds none is answered at
once and told when to come back; the pages never wait for pollers.
"""

import threading
import time
from datetime import datetime

from approvals.models.clock import database_now
from approvals.selectors import drafts
from approvals.selectors.drafts import Pulse

PLACES = threading.BoundedSemaphore(4)
INTERVAL_SECONDS = 0.3
RETRY_AFTER_SECONDS = 5

pause = time.sleep


def for_change(draft_id: int, seen: str, *, seconds: float) -> bool:
    """Returns when the draft's ETag is no longer `seen`, its time ran out, or the time is over.

    False if all places were taken.
    """
    if not PLACES.acquire(blocking=False):
        return False
    try:
        ends_at = time.monotonic() + seconds
        while _is(drafts.pulse(draft_id), seen, database_now()) and time.monotonic() < ends_at:
            pause(INTERVAL_SECONDS)
    finally:
        PLACES.release()
    return True


def _is(pulse: Pulse, seen: str, now: datetime) -> bool:
    overdue = pulse.expires_at is not None and pulse.expires_at <= now
    return seen == f'"{pulse.version}.{pulse.seq}"' and not overdue
