"""Processes of one terminal stop together."""

import sys
import threading

import pytest

from reviewroom.children import Child, first_to_end, stop_all


def child(name, program):
    made = Child(name, [sys.executable, "-c", program])
    made.start()
    return made


@pytest.fixture
def sleeper():
    made = child("sleeper", "import time; time.sleep(60)")
    yield made
    stop_all([made])


def test_the_child_that_ends_first_is_told_with_its_last_words(sleeper, capsys):
    dying = child("dying", "print('no database'); raise SystemExit(3)")
    assert first_to_end([sleeper, dying], threading.Event()) is dying
    stop_all([dying])
    assert dying.exit_code == 3
    assert list(dying.last_lines) == ["no database"]
    assert "dying | no database" in capsys.readouterr().out


def test_all_are_stopped(sleeper):
    stop_all([sleeper])
    assert sleeper.exit_code == -15


def test_a_child_that_ignores_the_request_is_killed():
    program = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
    )
    deaf = child("deaf", program)
    while not deaf.last_lines:
        threading.Event().wait(0.01)
    stop_all([deaf], seconds=0.2)
    assert deaf.exit_code == -9


def test_watching_ends_when_asked_to(sleeper):
    stopped = threading.Event()
    stopped.set()
    assert first_to_end([sleeper], stopped) is None
