import re

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from approvals.connectors.base import Reading
from approvals.domain.states import DraftState
from approvals.models import Observation, TargetReading
from approvals.workers import dispatch, reconcile
from tests.admin.conftest import logged_in, messages, rows
from tests.services import states
from tests.support.remote import UNKNOWN

MODELS = [model for model in apps.get_app_config("approvals").get_models() if not model._meta.auto_created]
CHANGEABLE = {"User", "Room", "Membership", "Channel"}
KEPT = [model for model in MODELS if model.__name__ not in CHANGEABLE]
INLINE = re.compile(rb"<style|<script(?![^>]*\bsrc=)|\sstyle=|\son[a-z]+=|javascript:", re.IGNORECASE)


@pytest.fixture
def full(story):
    """At least one row of every table that a story can fill."""
    story.approved()
    dispatch.run(concurrency=1, clock=story.clock)
    reconcile.run(concurrency=1, clock=story.clock)
    story.approved("reply-bot", payload={"summary": "Lost"})
    story.remote.receipts.append(UNKNOWN)
    dispatch.run(concurrency=1, clock=story.clock)
    reconcile.run(concurrency=1, clock=story.clock)
    story.remote.readings = [Reading(True, "Read.", {"comment": "<b>Old</b>"})]
    states.build(story, DraftState.RETRACTED)
    return story


def place(model, what, *args):
    return reverse(f"admin:approvals_{model._meta.model_name}_{what}", args=args)


def test_every_model_is_there():
    assert [model for model in MODELS if model not in admin.site._registry] == []


def test_every_list_and_row_can_be_seen(full, site):
    assert {page: status for page in pages() if (status := site.get(page).status_code) != 200} == {}


def test_no_page_needs_inline_script_or_style(full, site):
    assert [(page, found) for page in pages() for found in INLINE.findall(site.get(page).content)] == []


def test_a_list_takes_a_fixed_number_of_queries(full, site):
    assert {
        model.__name__: count for model in MODELS if (count := queries(site, place(model, "changelist"))) > 10
    } == {}


def test_searching_works(full, site):
    searched = [model for model in MODELS if admin.site._registry[model].search_fields]
    assert [model for model in searched if site.get(place(model, "changelist"), {"q": "1"}).status_code != 200] == []


def test_a_crafted_change_is_refused(full, site):
    before = rows()
    answers = {row: site.post(place(type(row), "change", row.pk), crafted(type(row))) for row in first_rows(KEPT)}
    assert ({row: answer.status_code for row, answer in answers.items()}, rows()) == (
        dict.fromkeys(answers, 403),
        before,
    )


def test_a_crafted_addition_is_refused(full, site):
    before = rows()
    statuses = {model: site.post(place(model, "add"), crafted(model)).status_code for model in KEPT}
    assert (statuses, rows()) == (dict.fromkeys(KEPT, 403), before)


def test_deleting_is_refused_with_a_message(full, site):
    told = {
        row: messages(site.post(place(type(row), "delete", row.pk), {"post": "yes"}, follow=True))[0]
        for row in first_rows(MODELS)
    }
    assert {row: text for row, text in told.items() if "ever deleted" not in text} == {}


def test_deleting_changes_nothing(full, site):
    before = rows()
    for row in first_rows(MODELS):
        site.post(place(type(row), "delete", row.pk), {"post": "yes"})
    assert rows() == before


def test_delete_selected_deletes_nothing(full, site):
    before = rows()
    for model in MODELS:
        picked = [row.pk for row in model._base_manager.all()]
        site.post(place(model, "changelist"), {"action": "delete_selected", "_selected_action": picked, "post": "yes"})
    assert rows() == before


def test_staff_with_every_permission_change_nothing(full, staff):
    site, before = logged_in(staff), rows()
    for row in first_rows(MODELS):
        site.post(place(type(row), "change", row.pk), crafted(type(row)))
        site.post(place(type(row), "delete", row.pk), {"post": "yes"})
    for model in MODELS:
        site.post(place(model, "add"), crafted(model))
    assert rows() == before


def test_what_was_seen_at_the_remote_can_be_read(full, site):
    kinds = set(Observation.objects.values_list("kind", flat=True))
    page = site.get(place(Observation, "changelist")).content.decode()
    assert (kinds >= {"lookup", "verify"}, [kind for kind in kinds if kind not in page]) == (True, [])


def test_a_reading_is_escaped(full, site):
    page = site.get(place(TargetReading, "change", TargetReading.objects.get().pk)).content
    assert (b"Old" in page, b"<b>Old" in page) == (True, False)


def test_who_is_no_staff_sees_nothing(full):
    assert logged_in(full.user["ben"]).get(place(MODELS[0], "changelist")).status_code == 302


@pytest.mark.parametrize("hidden", ["digest", "token", "prepared"])
def test_what_would_give_power_is_not_shown(hidden):
    owner = {"digest": "ApiToken", "token": "DispatchClaim", "prepared": "Attempt"}[hidden]
    model = apps.get_model("approvals", owner)
    assert hidden not in admin.site._registry[model].get_fields(None, None)


def first_rows(models):
    return [row for model in models if (row := model._base_manager.first()) is not None]


def pages():
    return [
        *(place(model, "changelist") for model in MODELS),
        *(place(type(row), "change", row.pk) for row in first_rows(MODELS)),
    ]


def queries(site, page):
    with CaptureQueriesContext(connection) as found:
        site.get(page)
    return len(found)


def crafted(model):
    """Every column of the table, as somebody who wants to move it would post it."""
    wanted = {field.name: "1" for field in model._meta.concrete_fields}
    return wanted | {"state": "approved", "payload": "{}", "digest": "sha256:" + "0" * 64, "_save": "Save"}
