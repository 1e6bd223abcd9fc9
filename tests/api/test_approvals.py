"""Reading approvals, the approval claim, and the keys that verify it."""

import json
import stat

import pytest
from joserfc import jws
from joserfc.jwk import KeySet

from approvals.api.documents import Claim
from approvals.models import Approval, Draft, Membership
from approvals.services import signing
from tests.services import states

pytestmark = pytest.mark.django_db


def claim_of(api, draft, **kwargs):
    return api.get(draft["links"]["claim"], by="vic", **kwargs)


def test_an_approval_is_read(api):
    draft = api.propose().json()
    approval = api.get(draft["links"]["approval"]).json()
    assert (approval["state"], approval["digest"], approval["draft"]) == ("pending", draft["digest"], draft["id"])


def test_a_superseded_approval_links_its_successor(api):
    first = api.propose().json()
    second = api.put(first["links"]["self"], {"payload": {"summary": "Both"}}, If_Match='"1"').json()
    approval = api.get(first["links"]["approval"]).json()
    assert (approval["state"], approval["links"]["successor"]) == ("superseded", second["links"]["approval"])


def test_the_claim_has_exactly_the_members_of_the_contract(api):
    claim = claim_of(api, api.propose().json()).json()
    assert set(claim) == {
        "schema_version",
        "approval_id",
        "issuer",
        "state",
        "binding_digest",
        "draft_id",
        "revision",
        "target",
        "target_version",
        "required_approvals",
        "approvals",
        "approvals_counted",
        "issued_at",
        "not_before",
        "expires_at",
        "observed_at",
        "max_age_seconds",
        "superseded_by",
    }


def test_the_claim_is_a_fact_and_no_verdict(api):
    assert not {"valid", "approved"} & set(claim_of(api, api.propose().json()).json())


def test_the_claim_names_who_approved_and_when_it_was_issued(api, story):
    draft = api.get(f"/v1/drafts/{story.approved().pk}").json()
    claim = claim_of(api, draft).json()
    assert [item["approver"] for item in claim["approvals"]] == ["ben", "cleo"]
    assert (claim["state"], claim["approvals_counted"], claim["issued_at"]) == (
        "approved",
        2,
        "2026-11-30T12:00:00.000000Z",
    )


@pytest.mark.parametrize("change", ["role", "account", "membership"])
def test_the_claim_recounts_standing(api, story, change):
    draft = api.get(f"/v1/drafts/{story.approved().pk}").json()
    ben = Membership.objects.filter(user__username="ben")
    if change == "role":
        ben.update(is_reviewer=False)
    elif change == "membership":
        ben.delete()
    else:
        story.user["ben"].is_active = False
        story.user["ben"].save()
    claim = claim_of(api, draft).json()
    assert claim["approvals_counted"] == 1
    assert [item["in_good_standing"] for item in claim["approvals"]] == [False, True]


def test_a_decision_taken_back_is_in_no_claim(api):
    draft = api.propose().json()
    api.decide(draft, by="ben")
    api.post(f"{draft['links']['approval']}/decisions/take-back", by="ben")
    assert claim_of(api, draft).json()["approvals"] == []


def test_after_an_edit_the_claim_counts_nothing(api):
    first = api.propose().json()
    api.decide(first, by="ben")
    second = api.put(first["links"]["self"], {"payload": {"summary": "Both"}}, If_Match='"1"').json()
    claim = claim_of(api, second).json()
    assert (claim["revision"], claim["approvals_counted"]) == (2, 0)


def test_at_its_very_end_an_approval_is_expired(api, story):
    draft = api.propose().json()
    story.clock.advance(days=7)
    assert claim_of(api, draft).json()["state"] == "expired"


def test_reading_past_the_time_writes_the_expiry_down_once(api, story):
    draft = api.propose().json()
    story.clock.advance(days=7)
    claim_of(api, draft)
    seq = Draft.objects.get().seq
    api.get(draft["links"]["approval"])
    assert (Approval.objects.get().state, Draft.objects.get().seq) == ("expired", seq)


def test_a_reader_sees_expired_though_it_cannot_be_written_down(api, story, monkeypatch):
    draft = api.propose().json()
    story.clock.advance(days=7)
    monkeypatch.setattr("approvals.api.observing.expire.expire", lambda **_: False)
    assert claim_of(api, draft).json()["state"] == "expired"
    assert Approval.objects.get().state == "pending"


def test_a_claim_does_not_outlive_the_approval(api, story):
    draft = api.propose().json()
    assert claim_of(api, draft).json()["max_age_seconds"] == 60
    story.clock.advance(days=7, seconds=-7)
    assert claim_of(api, draft).json()["max_age_seconds"] == 7


@pytest.mark.parametrize("state", [state for state in states.BUILD if state != "draft"])
def test_a_claim_in_every_state_fits_the_documented_form(api, story, state):
    draft = states.build(story, state)
    answer = api.get(f"/v1/approvals/{draft.approval_id}/claim")
    assert Claim.model_validate_json(answer.content).state == draft.approval.state


def test_a_signed_claim_verifies_against_the_published_keys(api):
    draft = api.propose().json()
    answer = claim_of(api, draft, Accept="application/jwt")
    keys = KeySet.import_key_set(api.get("/.well-known/jwks.json", by=None).json())
    token = jws.deserialize_compact(answer.content, keys, registry=signing._Registry(algorithms=["EdDSA"]))
    claims = json.loads(token.payload)
    assert (answer["Content-Type"], token.protected["typ"]) == ("application/jwt", "approval-claim+jwt")
    assert (claims["exp"] - claims["iat"], claims["iss"]) == (60, claims["issuer"])
    assert Claim.model_validate({name: claims[name] for name in Claim.model_fields}).binding_digest == draft["digest"]


@pytest.mark.parametrize("accept", ["application/json", "*/*", "application/json, application/jwt;q=0.5", "text/html"])
def test_a_claim_is_plain_json_to_everybody_else(api, accept):
    assert claim_of(api, api.propose().json(), Accept=accept)["Content-Type"] == "application/json"


def test_the_published_key_holds_nothing_private(api):
    keys = api.get("/.well-known/jwks.json", by=None).json()["keys"]
    assert [set(key) for key in keys] == [{"kty", "crv", "x", "kid", "use", "alg"}]


def test_the_key_is_made_once_and_read_by_its_owner_only(api, settings):
    first = api.get("/.well-known/jwks.json", by=None).json()
    assert api.get("/.well-known/jwks.json", by=None).json() == first
    assert stat.S_IMODE(settings.REVIEWROOM_SIGNING_KEY_FILE.stat().st_mode) == 0o600


def test_a_key_that_stands_is_never_replaced(settings):
    assert signing.create(settings.REVIEWROOM_SIGNING_KEY_FILE)
    before = settings.REVIEWROOM_SIGNING_KEY_FILE.read_bytes()
    assert not signing.create(settings.REVIEWROOM_SIGNING_KEY_FILE)
    assert settings.REVIEWROOM_SIGNING_KEY_FILE.read_bytes() == before
    assert len(list(settings.REVIEWROOM_SIGNING_KEY_FILE.parent.iterdir())) == 1


@pytest.mark.parametrize("content", ["", "{}", "x", '{"kty": "oct", "k": "YWJj"}', "[]"])
def test_a_broken_key_makes_signing_unavailable_and_nothing_else(api, settings, content):
    draft = api.propose().json()
    settings.REVIEWROOM_SIGNING_KEY_FILE.parent.mkdir()
    settings.REVIEWROOM_SIGNING_KEY_FILE.write_text(content)
    assert claim_of(api, draft, Accept="application/jwt").json()["code"] == "unavailable"
    assert api.get("/.well-known/jwks.json", by=None).status_code == 503
    assert claim_of(api, draft).status_code == 200
