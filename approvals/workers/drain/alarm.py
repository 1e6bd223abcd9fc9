"""Says aloud when what somebody took back cannot reach the sink, because an earlier event of its approval is parked."""

import logging
import time

from approvals.selectors import outbox
from approvals.workers.counts import Counts

AGAIN_AFTER_SECONDS = 3600.0
MESSAGE = "A revocation or supersession is held back from the audit sink by a parked event: %d of them."
log = logging.getLogger("approvals.workers.drain")


class Alarm:
    """Speaks at once, when the number grows, and every hour; not at every beat."""

    def __init__(self) -> None:
        self._said = 0
        self._said_at = 0.0

    def look(self, counts: Counts) -> None:
        """Looks after a beat."""
        held = outbox.held_endings()
        if held and (held > self._said or counts["parked"] or time.monotonic() - self._said_at >= AGAIN_AFTER_SECONDS):
            log.error(MESSAGE, held, extra={"held_endings": held})
            self._said_at = time.monotonic()
        self._said = held


alarm = Alarm()
