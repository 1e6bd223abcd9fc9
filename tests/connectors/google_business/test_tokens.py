"""Access tokens: how they are got and kept, and that no credential shows anywhere."""

import json
import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from approvals.connectors.base import Deadline
from approvals.connectors.conformance import Behaviour, Reply, Verb
from approvals.connectors.google_business import GoogleBusinessConnector
from approvals.connectors.outbound import Outbound
from tests.connectors.google_business.standin import oauth_error, quota


@pytest.fixture
def send_with(google, job, run):
    """Prepares and sends with another environment, or another clock."""

    def call(environ=None, **client):
        outbound = Outbound(allow_private=True, environ=google.environ | (environ or {}), **client)
        connector = GoogleBusinessConnector(outbound)
        return run(connector.prepare(job, Deadline(5.0))) or run(connector.send(job, Deadline(5.0)))

    return call


@pytest.fixture
def send_secret(send_with):
    def call(secret):
        text = secret if isinstance(secret, str) else json.dumps(secret)
        return send_with({"REVIEWROOM_TARGET_SECRET_GOOGLE": text})

    return call


def shown(answer):
    return repr(answer) + answer.reason + json.dumps(answer.evidence)


def puts(storefront):
    return [asked for asked in storefront.asked if asked.method == "PUT"]


def test_a_refresh_token_gets_in(send_secret, tokens):
    assert send_secret(tokens.authorized_user).outcome == "delivered"


def test_a_service_account_gets_in(send_secret, tokens):
    assert send_secret(tokens.service_account).outcome == "delivered"


def test_a_secret_as_google_auth_writes_it_gets_in(send_secret, tokens):
    secret = json.loads(tokens.authorized_user)
    del secret["type"]
    assert send_secret(secret).outcome == "delivered"


def test_one_token_serves_many_calls(send, ask, job, tokens):
    send(job)
    for verb in ("verify", "lookup", "read", "retract"):
        ask(verb, job)
    assert len(tokens.asked) == 1


def test_a_token_is_fetched_before_anything_is_sent(ask, job, tokens, storefront):
    ask("prepare", job)
    assert (len(tokens.asked), storefront.asked) == (1, [])


def test_another_secret_does_not_get_the_same_token(send_secret, tokens):
    send_secret(tokens.authorized_user)
    send_secret(tokens.service_account)
    assert len(set(tokens.issued)) == 2


def test_another_token_endpoint_is_asked_itself(send, job, tokens):
    send(job)
    config = {**job.settings.config, "token_url": f"{tokens.url}/elsewhere"}
    elsewhere = replace(job, settings=replace(job.settings, config=config))
    assert send(elsewhere).outcome == "not_sent"


@pytest.mark.parametrize(("minutes", "is_new"), [(50, False), (58, True), (70, True)])
def test_a_token_is_used_until_shortly_before_its_end(send, job, send_with, tokens, minutes, is_new):
    send(job)
    send_with(now=lambda: datetime.now(UTC) + timedelta(minutes=minutes))
    assert (len(tokens.issued) > 1) == is_new


def test_a_token_of_unknown_life_is_used_once(ask, job, tokens):
    tokens.says = [Reply(200, {"access_token": "ya29.short"})]
    ask("prepare", job)
    ask("prepare", job)
    assert len(tokens.asked) == 2


def test_a_token_that_no_longer_counts_is_replaced_once(send, job, google, storefront, tokens):
    send(job)
    tokens.valid.clear()
    storefront.reply = None
    assert send(job).outcome == "delivered"
    assert (len(tokens.issued), len(puts(storefront)), storefront.effects) == (2, 3, 2)


def test_who_is_locked_out_with_a_new_token_too_pauses(send, job, google, storefront):
    google.behave(Verb.SEND, Behaviour.LOCK_OUT)
    receipt = send(job)
    assert (receipt.outcome, receipt.pause, len(puts(storefront))) == ("not_sent", True, 2)


def test_who_is_locked_out_and_gets_no_new_token_pauses(send, job, storefront, tokens):
    send(job)
    tokens.valid.clear()
    tokens.refresh_token = "withdrawn"
    receipt = send(job)
    assert (receipt.outcome, receipt.pause, len(puts(storefront))) == ("not_sent", True, 2)


def test_reading_gets_a_new_token_as_well(send, ask, job, tokens):
    send(job)
    tokens.valid.clear()
    assert ask("verify", job).match == "equal"


PAUSING = {
    "invalid_grant": oauth_error("invalid_grant", "Token has been expired or revoked."),
    "invalid_client": oauth_error("invalid_client", "The OAuth client was not found.", 401),
    "unauthorized_client": oauth_error("unauthorized_client", "Client is unauthorized."),
    "invalid_scope": oauth_error("invalid_scope", "Bad."),
    "org_internal": oauth_error("org_internal", "Restricted.", 403),
    "a wrong address": Reply(404, "<html>Not found</html>"),
}


@pytest.mark.parametrize("answer", PAUSING.values(), ids=PAUSING.keys())
def test_credentials_that_do_not_count_are_not_sent_and_pause(send, job, storefront, tokens, answer):
    tokens.says = [answer]
    receipt = send(job)
    assert (receipt.outcome, receipt.pause, storefront.asked) == ("not_sent", True, [])


def test_the_reason_names_what_google_said(send, job, tokens):
    tokens.says = [PAUSING["invalid_grant"]]
    assert "invalid_grant: Token has been expired or revoked." in send(job).reason


PASSING = {
    "500": Reply(500, {"error": "internal_failure"}),
    "503": Reply(503, "<html>Try later</html>"),
    "internal_failure": oauth_error("internal_failure", "Backend."),
    "temporarily_unavailable": oauth_error("temporarily_unavailable", "Try later."),
    "429": Reply(429, {"error": "rate_limit"}),
    "403 for a quota": quota(403),
    "408": Reply(408, {}),
    "a redirect": Reply(307, None, {"Location": "http://127.0.0.1:9/token"}),
    "HTML": Reply(200, "<html>Welcome</html>"),
    "nothing": Reply(200, {}),
    "a list": Reply(200, ["access_token"]),
    "a token that is no text": Reply(200, {"access_token": 4, "expires_in": 60}),
    "an empty token": Reply(200, {"access_token": "", "expires_in": 60}),
    "a token that ends a header": Reply(200, {"access_token": "a\r\nX-Evil: 1", "expires_in": 60}),
    "a life that is no number": Reply(200, {"access_token": "ya29.x", "expires_in": "soon"}),
    "a life without end": Reply(200, {"access_token": "ya29.x", "expires_in": 10**18}),
}


@pytest.mark.parametrize("answer", PASSING.values(), ids=PASSING.keys())
def test_a_token_endpoint_in_trouble_is_asked_once_and_pauses_nothing(send, job, storefront, tokens, answer):
    tokens.says = [answer]
    receipt = send(job)
    assert (receipt.outcome, receipt.pause, storefront.asked) == ("not_sent", False, [])
    assert len(tokens.asked) == 1


@pytest.mark.parametrize("behaviour", [Behaviour.HANG_UP, Behaviour.APPLY_AND_CUT, Behaviour.GARBAGE])
def test_a_token_answer_that_breaks_off_is_not_sent(send, job, storefront, tokens, behaviour):
    tokens.behave(Verb.SEND, behaviour)
    receipt = send(job)
    assert (receipt.outcome, receipt.pause, storefront.asked) == ("not_sent", False, [])


def test_a_token_endpoint_that_hangs_ends_with_the_deadline(send, job, storefront, tokens):
    tokens.behave(Verb.SEND, Behaviour.HANG)
    receipt = send(job, seconds=0.5)
    assert (receipt.outcome, storefront.asked) == ("not_sent", [])


def test_a_token_endpoint_that_nobody_serves_is_not_sent(send, job, tokens):
    tokens.behave(Verb.SEND, Behaviour.UNREACHABLE)
    receipt = send(job)
    assert (receipt.outcome, receipt.pause) == ("not_sent", False)


def test_the_time_a_token_endpoint_asks_for_is_kept(send, job, tokens):
    tokens.says = [Reply(429, {}, {"Retry-After": "17"})]
    assert send(job).retry_after_seconds == 17.0


def test_without_a_token_nothing_is_known(ask, job, tokens):
    tokens.refresh_token = "withdrawn"
    assert ask("lookup", job).sighting == "unknown"
    assert ask("verify", job).match == "unknown"
    assert ask("read", job).known is False
    assert ask("retract", job).outcome == "not_sent"


def test_a_worker_that_woke_too_late_fetches_no_token(google, connector, job, run):
    late = Deadline(5.0, send_by=1000.0, clock=lambda: 1000.0)
    assert run(connector.prepare(job, late)).outcome == "not_sent"
    assert google.requests() == 0


@pytest.mark.parametrize("part", ["storefront", "tokens"])
def test_a_secret_meant_for_one_of_the_hosts_only_goes_to_neither(google, send_with, part):
    receipt = send_with({"REVIEWROOM_TARGET_SECRET_GOOGLE_HOSTS": getattr(google, part).host})
    assert (receipt.outcome, receipt.pause, google.requests()) == ("not_sent", True, 0)


def test_a_token_is_kept_from_a_host_that_is_no_longer_meant(google, send, job, send_with):
    send(job)
    before = google.requests()
    receipt = send_with({"REVIEWROOM_TARGET_SECRET_GOOGLE_HOSTS": google.tokens.host})
    assert (receipt.outcome, google.requests()) == ("not_sent", before)


BROKEN = {
    "no JSON": "marker-of-a-secret",
    "deep nesting": "[" * 100_000,
    "a list": ["marker-of-a-secret"],
    "another kind": {"type": "external_account", "x": "marker-of-a-secret"},
    "a kind that is no text": {"type": {"marker-of-a-secret": 1}},
    "no kind": {"client_secret": "marker-of-a-secret"},
    "no refresh token": {"type": "authorized_user", "client_id": "a", "client_secret": "marker-of-a-secret"},
    "an empty refresh token": {"client_id": "a", "client_secret": "marker-of-a-secret", "refresh_token": ""},
    "no key": {"type": "service_account", "client_email": "marker-of-a-secret"},
    "a broken key": {"type": "service_account", "client_email": "a@b.example", "private_key": "marker-of-a-secret"},
}


@pytest.mark.parametrize("secret", BROKEN.values(), ids=BROKEN.keys())
def test_a_secret_that_cannot_be_used_is_not_sent_and_not_shown(google, send_secret, secret):
    receipt = send_secret(secret)
    assert (receipt.outcome, receipt.pause, google.requests()) == ("not_sent", True, 0)
    assert "marker-of-a-secret" not in shown(receipt)


@pytest.mark.parametrize("kind", ["authorized_user", "service_account"])
def test_a_token_endpoint_that_repeats_everything_leaves_no_trace(google, send_secret, tokens, kind):
    secret = getattr(tokens, kind)
    tokens.parrots = True
    receipt = send_secret(secret)
    assert "[redacted]" in shown(receipt)
    assert [marker for marker in google.markers if marker in shown(receipt)] == []


def test_an_answer_that_hides_a_token_elsewhere_leaves_no_trace(send, job, tokens):
    tokens.says = [Reply(200, {"data": {"access_token": "ya29.elsewhere"}, "error": "ya29.elsewhere"})]
    assert "ya29.elsewhere" not in shown(send(job))


def test_nothing_is_logged_that_lets_anybody_in(google, send_secret, ask, job, tokens, caplog):
    caplog.set_level(logging.DEBUG)
    for secret in (tokens.authorized_user, tokens.service_account, {"type": "service_account", "private_key": "x"}):
        send_secret(secret)
    tokens.valid.clear()
    tokens.says = [Reply(200, {"access_token": 4, "refresh_token": tokens.refresh_token})]
    ask("verify", job)
    ask("retract", job)
    assert [marker for marker in google.markers if marker in caplog.text] == []
