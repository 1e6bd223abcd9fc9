"""`make run` says what is in its way."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from reviewroom import run

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def busy_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


@pytest.mark.parametrize("variable", ["REVIEWROOM_PORT", "REVIEWROOM_TRACKER_PORT"])
def test_a_busy_port_is_said_with_the_setting_that_changes_it(busy_port, variable):
    done = subprocess.run(
        [sys.executable, "-m", "reviewroom.run"],
        cwd=ROOT,
        env={variable: str(busy_port), "REVIEWROOM_INSTANCE": "tests", "REVIEWROOM_SECRET_KEY": "k" * 50},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 1
    assert f"{variable}={busy_port + 1} make run" in done.stderr


def test_two_parts_cannot_share_a_port():
    with pytest.raises(run.CannotStart, match="different ports"):
        run._refuse_busy_ports(8000, 8000)
