import json

import pytest
from django.core.management import CommandError

from approvals.models import Approval, AuditEvent, Delivery, Installation
from approvals.services import audit, verify
from tests.support.remote import ABSENT, FOUND, NOT_SENT, UNKNOWN
from tests.workers.beats import GRACE_SECONDS, LEASE_SECONDS, change_channel, look, send, stands

REVIEW = "locations/9/reviews/7"


@pytest.fixture
def adopt(story, command, monkeypatch):
    """Adopts at the story's time, without being asked."""
    monkeypatch.setattr("approvals.management.commands.adopt_database.database_now", story.clock)
    return lambda *words: command("adopt_database", *(words or ("--yes",)))


def installation():
    return Installation.objects.get()


def told():
    event = AuditEvent.objects.get(chain__key=audit.SYSTEM_CHAIN, action="database.adopted")
    return json.loads(event.body)


def test_it_writes_the_configured_instance_into_the_database(adopt, settings):
    settings.REVIEWROOM_INSTANCE = "the-new-one"
    assert "This database is tests's and becomes the-new-one's." in adopt()
    assert installation().instance_id == "the-new-one"


def test_workers_send_again_afterwards(story, adopt, settings):
    settings.REVIEWROOM_INSTANCE = "the-new-one"
    adopt()
    story.clock.advance(seconds=1)
    story.approved()
    assert send(story) == {"delivered": 1}


def test_the_same_installation_is_adopted_all_the_same(story, adopt):
    story.approved()
    assert "is tests's already; after a restore it has to be adopted all the same" in adopt()
    assert send(story) == {"unknown": 1}
    assert story.remote.sent == []


def test_it_is_in_the_history_with_what_it_concerned(story, adopt, settings):
    story.approved()
    settings.REVIEWROOM_INSTANCE = "the-new-one"
    adopt()
    event = told()
    assert event["actor"]["label"] == "system:adopt_database"
    assert event["details"] == {
        "former": "tests",
        "instance": "the-new-one",
        "looked_up": 1,
        "deduped": 0,
        "for_a_person": 0,
        "in_flight": 0,
    }
    assert list(verify.problems()) == []


def test_it_counts_what_happens_to_each_instead_of_its_first_send(story, adopt):
    story.remote.receipts += [NOT_SENT, UNKNOWN]
    story.approved()
    send(story)  # waits
    story.approved(resource=REVIEW)
    send(story)  # is unknown
    story.propose()  # may still be approved
    story.approved(resource="locations/9/reviews/8")
    lines = adopt().splitlines()
    assert "  3 looked up at the remote before anything is sent" in lines
    assert "1 were under way or unknown in the copy and are settled as always." in lines


@pytest.mark.parametrize(("idempotent", "counted"), [(True, "deduped"), (False, "for_a_person")])
def test_what_cannot_be_looked_up_is_counted_apart(story, adopt, idempotent, counted):
    change_channel(story, "tickets", idempotent=idempotent, config={"capabilities": []})
    story.approved()
    adopt()
    assert told()["details"][counted] == 1


def test_an_exclusive_target_that_cannot_be_asked_waits_for_a_person(story, adopt):
    change_channel(story, "replies", idempotent=True, config={"capabilities": []})
    story.approved(resource=REVIEW)
    adopt()
    assert told()["details"]["for_a_person"] == 1


def test_what_the_original_sent_is_found_and_not_sent_again(story, adopt):
    draft = story.approved()
    adopt()
    story.remote.lookups.append(FOUND)
    assert (send(story), look(story)) == ({"unknown": 1}, {"found": 1})
    assert stands(draft) == ("submitted", "delivered", "idle")
    assert story.remote.sent == []


def test_what_was_never_sent_goes_out_once_it_is_proven_absent(story, adopt):
    draft = story.approved(resource=REVIEW)
    adopt()
    story.clock.advance(seconds=1)
    send(story)
    story.remote.lookups += [ABSENT, ABSENT]
    story.clock.advance(seconds=LEASE_SECONDS + 1)
    look(story)
    story.clock.advance(seconds=GRACE_SECONDS)
    look(story)
    assert send(story) == {"delivered": 1}
    assert len(story.remote.sent) == 1
    assert stands(draft) == ("submitted", "delivered", "idle")


def test_what_is_approved_before_and_opened_after_is_looked_for_by_when_it_was_opened(story, adopt):
    draft = story.propose()
    adopt()
    story.clock.advance(seconds=1)
    story.decide(draft, "ben")
    story.decide(draft, "cleo")
    assert send(story) == {"unknown": 1}


def test_what_is_opened_after_it_is_simply_sent(story, adopt):
    adopt()
    story.clock.advance(seconds=1)
    story.approved()
    assert send(story) == {"delivered": 1}


def test_a_clock_that_is_behind_lets_nothing_of_the_copy_slip_through(story, adopt):
    story.approved()
    story.clock.advance(minutes=-10)
    adopt()
    assert installation().adopted_at == Approval.objects.get().opened_at
    story.clock.advance(minutes=10)
    assert send(story) == {"unknown": 1}


def test_adopting_again_looks_again_and_sends_nothing_on_a_guess(story, adopt):
    change_channel(story, "tickets", config={"capabilities": []})
    draft = story.approved()
    adopt()
    send(story)
    adopt()
    assert send(story) == {}
    assert stands(draft)[:2] == ("delivery_unknown", "unknown")
    assert Delivery.objects.get().attempt_count == 1


def test_without_yes_it_asks(story, adopt, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda question: "y")
    adopt("--verbosity", "1")
    assert installation().adopted_at == story.clock()


@pytest.mark.parametrize("answer", ["", "n", "maybe"])
def test_any_other_answer_than_yes_changes_nothing(adopt, monkeypatch, answer):
    monkeypatch.setattr("builtins.input", lambda question: answer)
    with pytest.raises(CommandError, match="Nothing was changed"):
        adopt("--verbosity", "1")
    assert installation().adopted_at is None


def test_where_nobody_can_answer_it_changes_nothing_and_names_the_option(adopt, monkeypatch):
    def nobody(question):
        raise EOFError

    monkeypatch.setattr("builtins.input", nobody)
    with pytest.raises(CommandError, match="--yes"):
        adopt("--verbosity", "1")
    assert installation().adopted_at is None


def test_a_database_without_installation_is_told_to_migrate(adopt):
    Installation.objects.all().delete()
    with pytest.raises(CommandError, match=r"manage\.py migrate"):
        adopt()
