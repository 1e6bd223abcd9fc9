"""Runs every test several times in one session: `-p tests.support.repeat`, with the number in `TIMES`."""

import os

import pytest

TIMES = "REVIEWROOM_TEST_TIMES"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes one case of every run; its name holds the run."""
    times = int(os.environ.get(TIMES, "1"))
    metafunc.fixturenames.append("run")
    metafunc.parametrize("run", range(1, times + 1), ids=lambda number: f"run{number}")
