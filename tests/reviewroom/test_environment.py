"""A wrong `REVIEWROOM_` value stops the start, and the message holds the fix."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from reviewroom import environment

ROOT = Path(__file__).resolve().parents[2]
KEY = "k" * 50


@pytest.fixture
def value(monkeypatch):
    return lambda text: monkeypatch.setenv("REVIEWROOM_X", text)


def test_an_unset_or_empty_variable_gives_the_default(value):
    assert environment.whole("X", 7, least=1, most=9, unit="seconds") == 7
    value("")
    assert environment.whole("X", 7, least=1, most=9, unit="seconds") == 7


@pytest.mark.parametrize("text", ["0", "10", "1.5", "ten", "-1"])
def test_a_number_out_of_bounds_names_the_bounds(value, text):
    value(text)
    with pytest.raises(ImproperlyConfigured, match=r"REVIEWROOM_X .* from 1 to 9 \(seconds\)"):
        environment.whole("X", 7, least=1, most=9, unit="seconds")


def test_a_flag_takes_only_a_yes_or_a_no(value):
    value("perhaps")
    with pytest.raises(ImproperlyConfigured, match="Write true or false"):
        environment.flag("X", False)


def test_a_text_must_match_its_pattern(value):
    value("a b")
    with pytest.raises(ImproperlyConfigured, match="Use letters"):
        environment.text("X", pattern="[a-z]+", fix="Use letters.")


def test_a_short_secret_is_refused_without_repeating_it(value):
    value("hunter2")
    with pytest.raises(ImproperlyConfigured, match="7 characters") as caught:
        environment.secret("X", shortest=32)
    assert "hunter2" not in str(caught.value)


def test_a_list_is_written_with_commas(value):
    value("a, b,,c")
    assert environment.words("X", []) == ["a", "b", "c"]


def start(**variables):
    """What a start with these variables prints, and its exit code."""
    program = "from django.conf import settings; settings.DEBUG; print(settings.SESSION_COOKIE_SECURE)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"DJANGO_SETTINGS_MODULE": "reviewroom.settings", "REVIEWROOM_INSTANCE": "tests", **variables},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("variables", "fix"),
    [
        ({"REVIEWROOM_DEBUG": "false"}, "Make one with"),
        ({"REVIEWROOM_ALLOWED_HOSTS": "review.example"}, "Make one with"),
        ({"REVIEWROOM_SECRET_KEY": "short"}, "at least 32"),
        ({"REVIEWROOM_SECRET_KEY": KEY, "REVIEWROOM_DATABASE_URL": "mysql://localhost/x"}, "postgresql://"),
        ({"REVIEWROOM_SECRET_KEY": KEY, "REVIEWROOM_AUDIT_SINK": "ftp://sink"}, "file:///"),
        ({"REVIEWROOM_SECRET_KEY": KEY, "REVIEWROOM_AUDIT_SINK": "https://sink.example"}, "REVIEWROOM_AUDIT_TOKEN"),
        ({"REVIEWROOM_SECRET_KEY": KEY, "REVIEWROOM_LEASE_SECONDS": "soon"}, "from 3 to 3600"),
    ],
)
def test_a_wrong_start_ends_with_the_fix(variables, fix):
    code, printed = start(**variables)
    assert code != 0
    assert fix in printed


def test_cookies_are_secure_unless_only_this_machine_is_served():
    assert start(REVIEWROOM_SECRET_KEY=KEY) == (0, "False\n")
    assert start(REVIEWROOM_SECRET_KEY=KEY, REVIEWROOM_ALLOWED_HOSTS="review.example") == (0, "True\n")
