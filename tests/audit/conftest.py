"""A story whose heartbeats lie in a sink's file, and a command that verifies it."""

import contextlib
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from approvals.models import AuditEvent, OutboxEvent, walls
from approvals.services import signing
from approvals.workers import heartbeat
from tests.cast import Story

Verify = Callable[..., list[dict[str, Any]]]


@pytest.fixture(autouse=True)
def _key(settings: Any, tmp_path: Path) -> None:
    settings.REVIEWROOM_SIGNING_KEY_FILE = tmp_path / "signing-key.json"


@pytest.fixture
def sink(tmp_path: Path) -> Path:
    return tmp_path / "sink.jsonl"


def beat(story: Story, sink: Path) -> None:
    """Emits the next slot's heartbeat and lets the sink have all there is."""
    heartbeat.run(clock=story.clock)
    story.clock.advance(seconds=300)
    deliver(sink)


def deliver(sink: Path) -> None:
    payloads = OutboxEvent.objects.order_by("id").values_list("payload", flat=True)
    sink.write_text("".join(f"{payload}\n" for payload in payloads))
    OutboxEvent.objects.update(drained_at="2026-11-30T12:00:00Z")


def edit_sink(sink: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    lines = [json.loads(line) for line in sink.read_text().splitlines()]
    sink.write_text("".join(json.dumps(line) + "\n" for line in change(lines)))


@pytest.fixture
def verify() -> Verify:
    """Runs `verify_audit` and gives the faults it names; of walls that a test took down, none."""

    def run(*words: object) -> list[dict[str, Any]]:
        printed = StringIO()
        with contextlib.suppress(CommandError):
            call_command("verify_audit", "--format", "json", *map(str, words), stdout=printed, stderr=StringIO())
        found: list[dict[str, Any]] = json.loads(printed.getvalue())["problems"]
        return [problem for problem in found if "wall" not in problem["problem"]]

    return run


def kinds(found: list[dict[str, Any]]) -> list[tuple[str, str | None, int | None]]:
    return [(fault["kind"], fault["chain"], fault["seq"]) for fault in found]


def lift_walls() -> None:
    """Until the test's transaction is rolled back: what somebody with full access to the database could do."""
    connection.check_constraints()  # PostgreSQL alters no table while deferred checks are open
    walls.drop(connection)


def event(chain: str, seq: int) -> AuditEvent:
    return AuditEvent.objects.get(chain__key=chain, seq=seq)


def public_keys(folder: Path) -> Path:
    """What a stranger downloaded from /.well-known/jwks.json."""
    file = folder / "jwks.json"
    file.write_text(json.dumps(signing.public_keys()))
    return file
