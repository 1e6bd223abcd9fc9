"""The admin's view of the outbox: how it stands, and why something waits."""

import pytest
from django.urls import reverse

from approvals.models import OutboxEvent
from tests.admin.conftest import messages
from tests.workers.test_drain import CLOSED, ScriptedSink, pour, refuses, withdrawn

LIST = "admin:approvals_outboxevent_changelist"


@pytest.fixture
def held(story):
    """A parked issuance with a revocation behind it."""
    draft = story.approved()
    pour(story, ScriptedSink(refuses("issuance")))
    withdrawn(story, draft)
    return story


def listed(site, **question):
    return list(site.get(reverse(LIST), question).context["cl"].result_list)


def test_the_list_says_how_the_outbox_stands(held, site):
    held.clock.advance(minutes=10)
    (told,) = messages(site.get(reverse(LIST)))
    assert "2 waiting, the oldest for 0:10:00; 1 parked, 1 held behind them, 1 of those a revocation" in told


def test_the_list_says_that_the_sink_has_everything(story, site):
    assert messages(site.get(reverse(LIST))) == ["The audit sink has everything."]


def test_the_list_says_that_the_sink_is_closed(story, site):
    story.approved()
    pour(story, ScriptedSink(lambda event: CLOSED))
    assert CLOSED.reason in messages(site.get(reverse(LIST)))[0]


@pytest.mark.parametrize(
    ("standing", "classes"),
    [
        ("parked", ["issuance"]),
        ("held", ["revocation"]),
        ("undrained", ["revocation", "issuance"]),
        ("drained", []),
        ("postponed", []),
        ("nonsense", ["revocation", "issuance"]),
    ],
)
def test_events_are_found_by_how_they_stand(held, site, standing, classes):
    assert [event.event_class for event in listed(site, standing=standing)] == classes


def test_each_line_says_why_it_waits_and_until_when(held, site):
    content = site.get(reverse(LIST)).content.decode()
    assert "The sink answered 422." in content
    assert ">parked<" in content
    assert ">held<" in content
    assert OutboxEvent.objects.get(event_class="issuance").next_attempt_at.strftime("%H:%M") == "13:00"
