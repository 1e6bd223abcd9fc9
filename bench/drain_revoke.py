"""How long it takes to revoke an approval while a drain is at work beside it, whatever its sink does."""

import itertools
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from approvals.models.clock import database_now
from approvals.services.revoke import revoke
from bench import services

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 40
_numbers = itertools.count(1_000_000)


def measure(database: str, sink: str, url: str) -> dict[str, Any]:
    """Revokes approved drafts one after the other, beside `drain_outbox --forever`."""
    drafts = [services.propose(next(_numbers)) for _ in range(ROUNDS)]
    for draft in drafts:
        services.approve(draft)
    environment = {
        **os.environ,
        "REVIEWROOM_AUDIT_SINK": url,
        "REVIEWROOM_AUDIT_TOKEN": "x",
        "REVIEWROOM_ALLOW_PRIVATE_TARGETS": "true",
    }
    command = [sys.executable, "manage.py", "drain_outbox", "--forever"]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as drain:
        assert drain.stderr is not None
        drain.stderr.readline()  # that it works until it is told to stop
        times = [_revoke(draft.approval_id) for draft in drafts]
        drain.kill()
    return {"database": database, "sink": sink, "milliseconds": statistics.median(times) * 1000}


def _revoke(approval_id: Any) -> float:
    began = time.perf_counter()
    revoke(actor=services.actor("ben"), clock=database_now, approval_id=approval_id, reason="Measured.")
    return time.perf_counter() - began
