"""What a test run does when a real part cannot be had: one loud line, or a failure where all is required."""

import os

import pytest

REQUIRE = "REVIEWROOM_TEST_REQUIRE"


def missing(part: str, reason: str) -> str:
    """The line that says which tests are left out and why; fails instead when REVIEWROOM_TEST_REQUIRE=all."""
    line = f"!!!! SKIPPED: no {part}, so the tests that need it did not run. {reason}"
    if os.environ.get(REQUIRE) == "all":
        raise pytest.UsageError(f"{part} is required ({REQUIRE}=all). {reason}")
    return line
