"""The program of docs/audit.md for strangers: it agrees with what is whole, and stops at what is not."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from approvals.models import AuditEvent
from tests.audit.conftest import beat, lift_walls, public_keys
from tests.cast import Story
from tests.test_floors import ROOT

PROGRAM = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "audit.md").read_text(encoding="utf-8"), re.DOTALL)[0]


@pytest.fixture
def exported(story: Story, sink: Path, tmp_path: Path) -> Path:
    story.approved()
    beat(story, sink)
    beat(story, sink)
    call_command("export_audit", "--output", tmp_path / "audit.jsonl")
    return tmp_path


def run(folder: Path) -> Any:
    words = [str(folder / "audit.jsonl"), str(public_keys(folder)), str(folder / "sink.jsonl")]
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, *words], capture_output=True, text=True, check=False
    )


def test_it_agrees_with_what_is_whole(exported: Path) -> None:
    done = run(exported)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("2 heartbeats agree\n")


def test_it_notices_an_altered_file(exported: Path) -> None:
    file = exported / "audit.jsonl"
    file.write_text(file.read_text().replace("person:ben", "person:eve", 1))
    assert "the file was altered" in run(exported).stderr


@pytest.mark.broken_on_purpose
def test_it_notices_what_was_altered_before_it_was_exported(exported: Path) -> None:
    lift_walls()
    row = AuditEvent.objects.filter(chain__key__startswith="draft:", seq=3).get()
    AuditEvent.objects.filter(pk=row.pk).update(body=row.body.replace('"api"', '"web"'))
    (exported / "audit.jsonl").unlink()
    call_command("export_audit", "--output", exported / "audit.jsonl")
    assert "/3 was altered" in run(exported).stderr


def test_it_notices_a_forged_heartbeat(exported: Path) -> None:
    sink = exported / "sink.jsonl"
    lines = [json.loads(line) for line in sink.read_text().splitlines()]
    lines[-1]["details"]["statement"]["counts"]["revocation"] = 9
    sink.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "BadSignatureError" in run(exported).stderr
