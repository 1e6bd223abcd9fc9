"""The view token says what one person was shown, and nothing else passes for it."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.core import signing

from approvals.domain.errors import StaleView
from approvals.web import view_token
from approvals.web.view_token import View

VIEW = View(UUID(int=1), "sha256:" + "a" * 64, 7, datetime(2026, 11, 30, 12, tzinfo=UTC))


def read(token, **changed):
    wanted = {"approval_id": VIEW.approval_id, "digest": VIEW.digest, "person_id": VIEW.person_id} | changed
    return view_token.read(token, **wanted)


def test_it_gives_when_it_was_shown():
    assert read(view_token.make(VIEW)) == VIEW.shown_at


@pytest.mark.parametrize(
    "changed",
    [{"approval_id": UUID(int=2)}, {"digest": "sha256:" + "b" * 64}, {"person_id": 8}],
    ids=["approval", "digest", "person"],
)
def test_it_is_for_one_person_one_approval_and_one_digest(changed):
    with pytest.raises(StaleView):
        read(view_token.make(VIEW), **changed)


@pytest.mark.parametrize("token", ["", "x", "a:b:c", "\x00", "é:é:é"])
def test_what_was_not_made_here_is_stale(token):
    with pytest.raises(StaleView):
        read(token)


@pytest.mark.parametrize("note", [[1], "text", {}, None])
def test_what_was_made_for_something_else_is_stale(note):
    with pytest.raises(StaleView):
        read(signing.dumps(note, salt="approvals.view"))
    with pytest.raises(StaleView):
        read(signing.dumps(note))


def test_it_ends_after_twelve_hours(monkeypatch):
    token = view_token.make(VIEW)
    real = signing.time.time
    monkeypatch.setattr(signing.time, "time", lambda: real() + 12 * 3600 - 60)
    assert read(token) == VIEW.shown_at
    monkeypatch.setattr(signing.time, "time", lambda: real() + 12 * 3600 + 1)
    with pytest.raises(StaleView):
        read(token)
