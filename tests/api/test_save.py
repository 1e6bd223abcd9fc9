"""PUT /v1/drafts/{id}: save what was edited, on the version that was edited."""

import pytest

from approvals.models import Draft, Revision
from tests.services import states

pytestmark = pytest.mark.django_db

NEW = {"payload": {"summary": "Both lifts are stuck"}}


@pytest.mark.parametrize("form", ['"1.{seq}"', 'W/"1.{seq}"', '"1"', "1", '"1.999"'])
def test_a_save_names_the_version_it_was_made_on(api, form):
    draft = api.propose().json()
    answer = api.put(draft["links"]["self"], NEW, If_Match=form.format(seq=Draft.objects.get().seq))
    saved = answer.json()
    assert (answer.status_code, saved["version"], saved["changed"]) == (200, 2, True)


def test_a_save_gives_the_etag_of_the_next_one(api):
    draft = api.propose()
    saved = api.put(draft.json()["links"]["self"], NEW, If_Match=draft["ETag"])
    again = api.put(draft.json()["links"]["self"], {"payload": {"summary": "All"}}, If_Match=saved["ETag"])
    assert again.json()["version"] == 3


def test_a_decision_in_between_does_not_make_a_save_stale(api):
    draft = api.propose()
    api.decide(draft.json(), by="ben")
    assert api.put(draft.json()["links"]["self"], NEW, If_Match=draft["ETag"]).status_code == 200


def test_a_save_on_an_old_version_is_stale(api):
    draft = api.propose()
    api.put(draft.json()["links"]["self"], NEW, If_Match=draft["ETag"])
    answer = api.put(draft.json()["links"]["self"], {"payload": {"summary": "Mine"}}, If_Match=draft["ETag"])
    assert (answer.status_code, answer.json()["code"]) == (409, "stale_revision")
    assert Revision.objects.count() == 2


@pytest.mark.parametrize(
    ("header", "status"),
    [(None, 428), ("", 428), ("*", 428), ("x", 422), ('"1", "2"', 422), ('"v1"', 422), ("1.5", 422), ("-1", 422)],
)
def test_a_save_needs_one_version(api, header, status):
    draft = api.propose().json()
    headers = {} if header is None else {"If_Match": header}
    assert api.put(draft["links"]["self"], NEW, **headers).status_code == status


def test_a_save_that_changes_no_byte_costs_no_approval(api):
    draft = api.propose().json()
    saved = api.put(draft["links"]["self"], {"payload": draft["payload"]}, If_Match='"1"').json()
    assert (saved["changed"], saved["version"], saved["approval"]) == (False, 1, draft["approval"])


@pytest.mark.parametrize("tail", [" ", "\t", "\n"])
def test_a_trailing_blank_is_a_change(api, tail):
    draft = api.propose().json()
    payload = {"summary": draft["payload"]["summary"] + tail}
    saved = api.put(draft["links"]["self"], {"payload": payload}, If_Match='"1"').json()
    assert (saved["changed"], saved["approval"]["id"] == draft["approval"]["id"]) == (True, False)


def test_a_change_voids_the_approvals_it_had(api):
    draft = api.propose().json()
    api.decide(draft, by="ben")
    saved = api.put(draft["links"]["self"], NEW, If_Match='"1"').json()
    assert saved["approval"]["approvals_counted"] == 0


def test_what_is_left_out_stays(api):
    draft = api.propose(note="Since Monday", submit=False).json()
    saved = api.put(draft["links"]["self"], {"title": "Lift", "submit": False}, If_Match='"1"').json()
    assert (saved["title"], saved["note"], saved["payload"]) == ("Lift", "Since Monday", draft["payload"])


@pytest.mark.parametrize("field", ["payload", "operation", "channel"])
def test_null_is_no_way_to_leave_something_out(api, field):
    draft = api.propose().json()
    answer = api.put(draft["links"]["self"], {field: None}, If_Match='"1"')
    assert (answer.status_code, answer.json()["pointer"]) == (422, f"/{field}")


def test_submit_false_leaves_a_draft_with_its_author(api):
    draft = api.propose(submit=False).json()
    assert api.put(draft["links"]["self"], NEW | {"submit": False}, If_Match='"1"').json()["state"] == "draft"


def test_a_save_submits_unless_told_otherwise(api):
    draft = api.propose(submit=False).json()
    assert api.put(draft["links"]["self"], NEW, If_Match='"1"').json()["state"] == "in_review"


def test_a_reviewer_may_edit_and_is_then_barred(api):
    draft = api.propose().json()
    saved = api.put(draft["links"]["self"], NEW, by="ben", If_Match='"1"').json()
    assert api.decide(saved, by="ben").json()["reason"] == "author"


@pytest.mark.parametrize("state", ["submitted", "failed", "delivery_unknown"])
def test_what_was_sent_is_never_revised(api, story, state):
    draft = states.build(story, state)
    answer = api.put(f"/v1/drafts/{draft.pk}", NEW, If_Match=f'"{draft.version}"')
    assert (answer.status_code, answer.json()["code"]) == (409, "consumed")
