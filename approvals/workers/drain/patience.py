"""What the sink took must be written down, also when the database is away for a moment: or it is told again."""

import logging
import time
from collections.abc import Callable

from django.db import InterfaceError, OperationalError, connection

TRIES = 6
FIRST_WAIT_SECONDS = 0.1
log = logging.getLogger("approvals.workers.drain")


def patiently(write: Callable[[], None]) -> None:
    """Runs a write that may be repeated, on a new connection if the old one broke; gives up after some seconds."""
    for number in range(TRIES):
        try:
            write()
        except (OperationalError, InterfaceError) as error:
            if number == TRIES - 1 or connection.in_atomic_block:
                raise
            log.warning("The outbox cannot be written yet: %s", error)
            connection.close()
            time.sleep(FIRST_WAIT_SECONDS * 2**number)
        else:
            return
