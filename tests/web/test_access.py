"""Who gets in, what leaves no trace in the browser, and what happens when a session ends in the middle."""

import pytest
from django.test import Client

from approvals.models import AuditEvent, Decision
from tests.cast import PASSWORD
from tests.web.conftest import HTMX, Forms

LOGIN = "/accounts/login/"


def log_in(client, name="ben", password=PASSWORD, **extra):
    return client.post(LOGIN, {"username": name, "password": password, **extra})


@pytest.mark.parametrize("path", ["/", "/rooms/facilities/", "/drafts/1/", "/drafts/new", "/drafts/1/edit"])
def test_without_a_session_every_page_leads_to_the_log_in_and_back(story, client, path):
    answer = client.get(path)
    assert answer.status_code == 302
    assert answer.url.startswith(f"{LOGIN}?next=%2F")


def test_log_in_leads_on(story, client):
    assert log_in(client, next="/rooms/facilities/").url == "/rooms/facilities/"


@pytest.mark.parametrize(
    "target",
    ["//evil.example", "/\\evil.example", "javascript:alert(1)", "https://evil.example/", "", "\t//evil.example"],
)
def test_log_in_never_leads_away(story, client, target):
    assert log_in(client, next=target).url == "/"


def test_log_ins_are_recorded_the_refused_ones_too(story, client):
    log_in(client, password="wrong")
    log_in(client)
    found = AuditEvent.objects.filter(action__in=("log_in.refused", "session.opened")).order_by("id")
    assert [(event.actor, event.outcome) for event in found] == [
        ("anonymous:127.0.0.1", "refused"),
        ("person:ben", "success"),
    ]
    assert "wrong" not in "".join(event.body for event in found)


def test_a_wrong_password_is_said_without_saying_which_part(story, client):
    page = log_in(client, password="wrong").content.decode()
    assert 'role="alert"' in page
    assert 'value="ben"' in page


def test_a_deactivated_persons_session_is_over(story, browse):
    tab = browse("ben")
    story.user["ben"].is_active = False
    story.user["ben"].save()
    assert tab.client.get("/").status_code == 302


def test_log_out_is_a_post(story, browse):
    tab = browse("ben")
    assert tab.client.get("/accounts/logout/").status_code == 405
    assert tab.client.post("/accounts/logout/").url == LOGIN
    assert tab.client.get("/").status_code == 302


def test_an_expired_session_sends_htmx_to_the_log_in_and_keeps_the_comment(story, browse):
    draft, tab = story.propose(), browse("ben")
    form = tab.form(draft)
    tab.client.logout()
    headers = {**HTMX, "HX-Current-URL": f"http://testserver/drafts/{draft.pk}/?tab=bytes"}
    sent = {**form, "verdict": "approve", "comment": "Typed\r\nbefore."}
    answer = tab.client.post(f"/drafts/{draft.pk}/", sent, headers=headers)
    assert answer["HX-Redirect"] == f"{LOGIN}?next=%2Fdrafts%2F{draft.pk}%2F%3Ftab%3Dbytes"
    assert answer.content == b""
    assert not Decision.objects.exists()
    log_in(tab.client)
    assert tab.form(draft)["comment"] == "Typed\nbefore."


def test_an_expired_session_sends_a_form_to_the_log_in_and_back_to_the_page(story, browse):
    draft, tab = story.propose(), browse("ben")
    form = tab.form(draft)
    tab.client.logout()
    answer = tab.press(draft, form=form, comment="Typed.")
    assert answer.url == f"{LOGIN}?next=%2Fdrafts%2F{draft.pk}%2F"


@pytest.mark.parametrize("current", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", ""])
def test_a_foreign_current_page_leads_home(story, client, current):
    answer = client.post("/drafts/1/", {}, headers={**HTMX, "HX-Current-URL": current})
    assert answer["HX-Redirect"] == f"{LOGIN}?next=%2F"


def test_an_old_form_token_is_explained_and_gives_the_text_back(story):
    draft = story.propose()
    client = Client(enforce_csrf_checks=True)
    client.force_login(story.user["ben"])
    sent = {"csrfmiddlewaretoken": "x" * 64, "verdict": "approve", "comment": "Typed <b>words</b>"}
    answer = client.post(f"/drafts/{draft.pk}/", sent)
    page = answer.content.decode()
    assert answer.status_code == 403
    assert "Load the page again" in page
    assert "Typed &lt;b&gt;words&lt;/b&gt;" in page


def test_an_old_form_token_leaves_an_open_page_alone(story):
    draft = story.propose()
    client = Client(enforce_csrf_checks=True)
    client.force_login(story.user["ben"])
    headers = {**HTMX, "HX-Current-URL": f"http://testserver/drafts/{draft.pk}/"}
    answer = client.post(f"/drafts/{draft.pk}/", {"comment": "Typed."}, headers=headers)
    assert answer["HX-Retarget"] == "#notices"
    assert f'href="/drafts/{draft.pk}/"' in answer.content.decode()
    page = client.get(f"/drafts/{draft.pk}/").content.decode()
    assert Forms(page).found[f"/drafts/{draft.pk}/"]["comment"] == "Typed."


def test_a_post_from_elsewhere_leaves_nothing_in_the_session(story):
    draft = story.propose()
    client = Client(enforce_csrf_checks=True)
    client.force_login(story.user["ben"])
    client.post(f"/drafts/{draft.pk}/", {"comment": "Planted."})
    assert "Planted." not in client.get(f"/drafts/{draft.pk}/").content.decode()


def test_nothing_private_is_stored_by_browsers(story, browse):
    draft = story.propose()
    for path in ("/", "/rooms/facilities/", f"/drafts/{draft.pk}/", f"/drafts/{draft.pk}/edit", "/drafts/new"):
        assert "no-store" in browse("ben" if "new" not in path else "ada").client.get(path)["Cache-Control"]
    assert "no-store" in browse("ben").client.get(f"/drafts/{draft.pk}/revisions/1.json")["Cache-Control"]


@pytest.mark.parametrize("path", ["/", LOGIN, "/nowhere"])
def test_no_inline_script_or_style_is_allowed_or_used(story, browse, path):
    answer = browse("ben").client.get(path)
    policy = answer["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    page = answer.content.decode()
    assert " style=" not in page
    assert "<style" not in page
    assert " onclick" not in page


def test_an_unknown_address_is_a_page_with_a_way_on(story, browse):
    answer = browse("ben").client.get("/nowhere")
    assert answer.status_code == 404
    assert 'href="/"' in answer.content.decode()


def test_htmx_gets_an_error_as_a_message_never_as_a_page(story, browse):
    answer = browse("ben").client.get("/nowhere", headers=HTMX)
    assert answer.status_code == 404
    assert answer["HX-Retarget"] == "#notices"
    assert "<html" not in answer.content.decode()


def test_a_fault_of_ours_is_a_page_that_promises_nothing(story, browse, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("broken")

    monkeypatch.setattr("approvals.web.pages.inbox.page", broken)
    tab = browse("ben")
    tab.client.raise_request_exception = False
    answer = tab.client.get("/")
    assert answer.status_code == 500
    assert "Something broke on our side" in answer.content.decode()
    assert "RuntimeError" not in answer.content.decode()


def test_a_signed_out_page_is_told_so_without_losing_its_text(story, client):
    draft = story.propose()
    answer = client.get(f"/drafts/{draft.pk}/news?version=1&seq=1", headers=HTMX)
    assert answer.status_code == 286
    assert "You are signed out" in answer.content.decode()
