"""The mark of a closed sink moves from the beginning of an event's last error to the sink's own row, and back."""

from importlib import import_module

import pytest
from django.apps import apps

from approvals.models import OutboxEvent, SinkState
from tests.models.rows import LATER, NOON, Rows

moves = import_module("approvals.migrations.0005_sink_closed_mark")


@pytest.fixture
def marked(db):
    """An event as the drain left it when the sink was closed."""
    event = Rows()["OutboxEvent"]
    OutboxEvent.objects.update(last_error=f"{moves.MARK}The sink answered 401.", next_attempt_at=LATER)
    return event


@pytest.mark.broken_on_purpose
def test_the_mark_becomes_a_row(marked):
    moves.to_row(apps, None)
    state = SinkState.objects.get()
    assert (state.closed_at, state.closed_reason, state.probe_at) == (NOON, "The sink answered 401.", LATER)
    assert OutboxEvent.objects.get().last_error == "The sink answered 401."


@pytest.mark.broken_on_purpose
def test_the_row_becomes_the_mark_again(marked):
    before = OutboxEvent.objects.values().get()
    moves.to_row(apps, None)
    moves.to_marks(apps, None)
    assert OutboxEvent.objects.values().get() == before


@pytest.mark.broken_on_purpose
def test_an_open_sink_leaves_no_row(db):
    Rows()["OutboxEvent"]
    moves.to_row(apps, None)
    moves.to_marks(apps, None)
    assert not SinkState.objects.exists()
