"""The tutorial's package is what the tutorial says, and proves itself the way the tutorial tells."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from approvals.connectors import registry
from approvals.connectors.outbound import Outbound
from approvals.services.channels import settings_of
from approvals.services.config_schema import read
from tests.connectors.test_registry import forget

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "noticeboard"
TUTORIAL = (ROOT / "docs" / "connectors.md").read_text().partition("## One of your own")[2]
FILES = [EXAMPLE / name for name in ("pyproject.toml", "room.toml")] + sorted(EXAMPLE.rglob("*.py"))


@pytest.fixture
def installed(monkeypatch):
    """The package as its own pyproject.toml would install it."""
    declared = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]["entry-points"][registry.GROUP]
    points = [EntryPoint(name, target, registry.GROUP) for name, target in declared.items()]
    monkeypatch.syspath_prepend(str(EXAMPLE))
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group == registry.GROUP else [])
    forget()
    yield
    forget()


def test_the_package_passes_the_conformance_suite_on_its_own():
    """In a process of its own, with nothing of this test suite, no Django and no database."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("DJANGO", "PYTEST"))}
    environment["PYTHONPATH"] = f"{ROOT}{os.pathsep}{EXAMPLE}"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:django", "-p", "no:cacheprovider", "-W", "error"],
        cwd=EXAMPLE,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert re.search(r"\b1\d\d passed", done.stdout)


def test_the_package_joins_by_its_entry_point(installed):
    assert "noticeboard" in registry.names()
    assert registry.get("noticeboard", Outbound(allow_private=True)).name == "noticeboard"


def test_the_tutorials_channel_is_taken(installed):
    room = read(tomllib.loads((EXAMPLE / "room.toml").read_text())).rooms[0]
    registry.get("noticeboard", Outbound(allow_private=True)).check(settings_of(room.channels[0]))


def blocks():
    return re.findall(r"^```(python|toml)\n(.*?)^```$", TUTORIAL, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", [text for _, text in blocks()])
def test_the_tutorial_shows_what_is_in_the_package(block):
    assert [path.name for path in FILES if block in path.read_text()] != []


def test_the_tutorial_shows_the_package():
    assert len(blocks()) >= 6
