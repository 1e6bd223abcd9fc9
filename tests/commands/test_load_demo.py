import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError

from approvals.models import AuditEvent, Channel, Draft, Room, User
from reviewroom.demo import loading


@pytest.fixture(autouse=True)
def settings_of_make_run(settings):
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = True
    return settings


@pytest.fixture
def loaded(db, command):
    return command("load_demo")


def test_people_can_log_in_with_the_printed_password(loaded, settings):
    assert settings.REVIEWROOM_DEMO_PASSWORD in loaded
    assert authenticate(username="ben", password=settings.REVIEWROOM_DEMO_PASSWORD).username == "ben"


def test_the_agent_cannot_log_in(loaded):
    assert not User.objects.get(username="reply-bot").has_usable_password()


def test_drafts_are_in_many_states(loaded):
    states = set(Draft.objects.values_list("state", flat=True))
    assert {"draft", "in_review", "changes_requested", "approved", "rejected", "revoked"} <= states


def test_one_approval_of_ben_is_enough_for_what_he_sees_first(loaded):
    first = loading.waiting_for("ben")[0]
    assert (first.room.slug, first.approval.required_approvals) == ("facilities", 1)


def test_a_second_run_changes_nothing(loaded, command):
    before = AuditEvent.objects.count()
    assert (command("load_demo"), AuditEvent.objects.count()) == ("The demo is loaded.\n", before)


def test_a_tracker_on_another_port_is_followed(loaded, command, settings):
    settings.REVIEWROOM_TRACKER_PORT = 8999
    command("load_demo")
    assert Channel.objects.get(slug="tracker").config.config["base_url"] == "http://127.0.0.1:8999/rest/data"


def test_what_people_changed_in_the_room_stays(loaded, command, settings):
    Room.objects.filter(slug="facilities").update(name="Our room")
    settings.REVIEWROOM_TRACKER_PORT = 8999
    command("load_demo")
    assert Room.objects.get(slug="facilities").name == "Our room"


def test_an_interrupted_run_is_finished(db, command, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(loading, "give_passwords", interrupt)
        with pytest.raises(KeyboardInterrupt):
            command("load_demo")
    command("load_demo")
    assert User.objects.get(username="ben").has_usable_password()
    assert loading.waiting_for("ben")


def interrupt():
    raise KeyboardInterrupt


def test_without_a_tracker_on_this_machine_it_says_how_to(db, command, settings):
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = False
    with pytest.raises(CommandError, match="make run"):
        command("load_demo")
