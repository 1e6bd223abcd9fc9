"""The connector of the registry, against the stand-in as a process of its own."""

import asyncio
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from approvals.connectors import registry
from approvals.connectors.base import Deadline, Job, Settings
from approvals.domain.binding import TargetRef, bind
from tests.connectors.google_business.standin import ACCOUNT, RESOURCE

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def served():
    """Where the stand-in serves, and the secret that gets in."""
    command = [sys.executable, "-m", "tests.connectors.google_business.standin"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield json.loads(process.stdout.readline())
        process.stdin.close()


def test_the_whole_life_of_a_reply(served, settings, monkeypatch):
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = True
    monkeypatch.setenv("REVIEWROOM_TARGET_SECRET_STORE", served["secret"])
    monkeypatch.setenv("REVIEWROOM_TARGET_SECRET_STORE_HOSTS", served["hosts"])
    config = {"base_url": served["base_url"], "token_url": served["token_url"]}
    channel = Settings("google_business", ACCOUNT, "STORE", resource_pattern="locations/*/reviews/*", config=config)
    connector = registry.get("google_business")

    def step(verb):
        return asyncio.run(getattr(connector, verb)(job, Deadline(10.0)))

    target = TargetRef("google_business", ACCOUNT, RESOURCE)
    binding = bind(operation="reply.upsert", target=target, payload={"comment": "Thank you."})
    request = connector.render(binding, uuid4(), channel)
    job = Job(request, binding, uuid4(), channel, "reply.upsert", begun_at=datetime.now(UTC))
    assert step("lookup").sighting == "absent"
    assert step("prepare") == {}
    receipt = step("send")
    job.remote_id = receipt.remote_id
    assert (receipt.outcome, step("verify").match, step("lookup").sighting) == ("delivered", "equal", "found")
    assert step("read").content == {"comment": "Thank you."}
    assert (step("retract").outcome, step("verify").match, step("retract").outcome) == (
        "delivered",
        "gone",
        "delivered",
    )
