"""What django-fsm-2 4.2.4 does and does not do: the reasons for `save_move` and the walls. If one of these fails
after an upgrade, read `approvals/models/moves.py` again before anything else.
"""

from importlib.metadata import version
from types import SimpleNamespace

import pytest
from django.db import models
from django.test.utils import isolate_apps
from django_fsm import FSMField, has_transition_perm, transition

from approvals.models import Draft
from tests.models.rows import Rows, change

pytestmark = pytest.mark.broken_on_purpose

FIELD = Draft._meta.get_field("state")


def test_these_facts_are_of_this_version():
    assert version("django-fsm-2") == "4.2.4"


@isolate_apps("approvals")
def test_permission_is_not_enforced_when_a_transition_is_called():
    class Door(models.Model):  # noqa: DJ008  never shown
        state = FSMField(default="shut", protected=True)

        class Meta:
            app_label = "approvals"

        @transition(field=state, source="shut", target="open", permission=lambda door, user: False)
        def unlock(self) -> None: ...

    door = Door()
    assert not has_transition_perm(door.unlock, SimpleNamespace(has_perm=lambda *_: False))
    door.unlock()
    assert door.state == "open"


def test_protection_stops_assignment():
    draft = Draft(state="draft")
    with pytest.raises(AttributeError, match="Direct state modification is not allowed"):
        draft.state = "approved"


def test_protection_does_not_stop_a_state_given_at_birth():
    assert Draft(state="approved").state == "approved"


def test_protection_does_not_stop_the_dictionary_of_an_object():
    draft = Draft(state="draft")
    draft.__dict__["state"] = "approved"
    assert draft.state == "approved"


def test_protection_does_not_stop_an_update_of_many(rows):
    draft = rows["Draft"]
    assert Draft.objects.filter(pk=draft.pk).update(state="in_review") == 1


def test_protection_does_not_stop_raw_sql(rows):
    assert change(rows["Draft"], state="in_review") == 1


def test_refreshing_lifts_protection_on_the_field_that_all_objects_share(rows, monkeypatch):
    seen = []
    monkeypatch.setattr(models.Model, "refresh_from_db", lambda *_, **__: seen.append(FIELD.protected))
    rows["Draft"].refresh_from_db()
    assert (seen, FIELD.protected) == ([False], True)


def test_a_refresh_that_fails_leaves_every_object_unprotected(rows, monkeypatch):
    monkeypatch.setattr(FIELD, "protected", True)  # put back after the test
    gone = Draft(pk=10**9)
    with pytest.raises(Draft.DoesNotExist):
        gone.refresh_from_db()
    rows["Draft"].state = "confirmed"
    assert (rows["Draft"].state, FIELD.protected) == ("confirmed", False)


def test_fetching_anew_keeps_protection(rows):
    draft = Draft.objects.get(pk=rows["Draft"].pk)
    with pytest.raises(AttributeError):
        draft.state = "approved"


def test_a_saved_state_that_another_moved_is_noticed_only_by_the_update(rows):
    """The method checks the object in memory, never the row."""
    draft = Draft.objects.get(pk=Rows()["Draft"].pk)
    change(draft, state="revoked")
    draft.submit()
    assert draft.state == "in_review"
