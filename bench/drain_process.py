"""`python -m bench.drain_process raw|drain|some URL COUNT CONNECTIONS`: one process that posts; says what it took.

`raw` is a loop that does nothing but POST the same bytes with the same headers by aiohttp; `drain` is the product's,
until nothing is left; `some` is the product's for COUNT events.
It prints `ready`, waits for a line, works, and prints one JSON object.
"""

import asyncio
import json
import os
import resource
import sys
import time
from typing import Any
from uuid import uuid4

PAYLOAD = json.dumps(
    {
        "schema_version": "audit-core.event.v1alpha1",
        "event_id": str(uuid4()),
        "observed_at": "2026-11-30T12:00:00.000000Z",
        "tenant": "default",
        "scope": "review-room",
        "source": "approval-engine",
        "actor": "person:cleo",
        "action": "approval.issuance",
        "resource": f"approval:{uuid4()}",
        "outcome": "success",
        "reason": None,
        "details": {"class": "issuance", "approval_id": str(uuid4()), "binding_digest": "sha256:" + "a" * 64}
        | {"superseded_by": None, "draft_id": 123456, "revision": 1, "target_id": 1, "target_version": 1},
    }
)


async def raw(url: str, count: int, connections: int) -> int:
    import aiohttp

    numbers = iter(range(count))
    body = PAYLOAD.encode()

    async def post_on() -> None:
        for _ in numbers:
            headers = {"Content-Type": "application/json", "Idempotency-Key": str(uuid4()), "Authorization": "Bearer x"}
            async with session.post(url, data=body, headers=headers) as response:
                await response.read()
                assert response.status == 204

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=connections)) as session:
        await asyncio.gather(*(post_on() for _ in range(connections)))
    return count


def drain(limit: int | None, connections: int) -> int:
    from approvals.workers import drain as worker

    counts = worker.run(concurrency=connections, batch_size=limit)
    assert not set(counts) - {"drained", "left_to_another"}, counts
    return counts["drained"]


def main() -> None:
    kind, url, count, connections = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    if kind != "raw":
        _set_up(url)
    print("ready", flush=True)
    sys.stdin.readline()
    before, cpu = time.monotonic(), time.process_time()
    if kind == "raw":
        done = asyncio.run(raw(url, count, connections))
    else:
        done = drain(count if kind == "some" else None, connections)
    told: dict[str, Any] = {"done": done, "began": before, "ended": time.monotonic()}
    told |= {"cpu": time.process_time() - cpu, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    print(json.dumps(told), flush=True)


def _set_up(url: str) -> None:
    os.environ |= {"REVIEWROOM_AUDIT_SINK": url, "REVIEWROOM_AUDIT_TOKEN": "x"}
    os.environ["REVIEWROOM_ALLOW_PRIVATE_TARGETS"] = "true"
    os.environ["DJANGO_SETTINGS_MODULE"] = "reviewroom.settings"
    import django

    django.setup()
    from django.db import connection

    from approvals import sinks

    connection.ensure_connection()
    sinks.from_settings()


if __name__ == "__main__":
    main()
