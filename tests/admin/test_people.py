import pytest
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.urls import reverse

from approvals.models import AuditEvent, User
from tests.admin.conftest import logged_in, messages, password_of, rows

NEW = "a long and private sentence"


def page(user):
    return reverse("admin:approvals_user_change", args=[user.pk])


def posted(user, **changes):
    values = {"first_name": "", "last_name": "", "email": "", "_save": "Save"}
    return values | ({"is_active": "on"} if user.is_active else {}) | changes


def saved(user):
    return User.objects.get(pk=user.pk)


def test_names_and_email_can_be_changed(story, site):
    ben = story.user["ben"]
    site.post(page(ben), posted(ben, first_name="Ben", email="ben@example.test"))
    assert (saved(ben).first_name, saved(ben).email) == ("Ben", "ben@example.test")


def test_a_deactivated_person_is_audited(story, site):
    ben = story.user["ben"]
    values = posted(ben)
    del values["is_active"]
    site.post(page(ben), values)
    event = AuditEvent.objects.get(action="user.changed", body__contains='"is_active":false,"user":"ben"')
    assert (saved(ben).is_active, event.actor) == (False, "person:max")


def test_nobody_shuts_themselves_out(superuser, site):
    values = posted(superuser)
    del values["is_active"]
    answer = site.post(page(superuser), values)
    assert (saved(superuser).is_active, "You cannot shut yourself out" in answer.content.decode()) == (True, True)


@pytest.mark.parametrize(
    "crafted",
    [
        {"kind": "agent"},
        {"username": "eve"},
        {"is_superuser": "on"},
        {"is_staff": "on"},
        {"acts_for": "1"},
        {"user_permissions": "1"},
        {"groups": "1"},
        {"password": "pbkdf2$forged"},
    ],
    ids=lambda crafted: next(iter(crafted)),
)
def test_what_is_configured_elsewhere_cannot_be_posted(story, site, crafted):
    ben, before = story.user["ben"], rows()
    site.post(page(ben), posted(ben, **crafted))
    assert rows() == before


def test_a_password_can_be_set(story, site):
    ben = story.user["ben"]
    site.post(
        reverse("admin:auth_user_password_change", args=[ben.pk]),
        {"password1": NEW, "password2": NEW, "usable_password": "true", "set-password": "Change"},
    )
    assert saved(ben).check_password(NEW)


def test_a_new_password_is_audited_without_it(story, site):
    ben = story.user["ben"]
    site.post(
        reverse("admin:auth_user_password_change", args=[ben.pk]),
        {"password1": NEW, "password2": NEW, "usable_password": "true", "set-password": "Change"},
    )
    body = AuditEvent.objects.get(action="user.password_changed").body
    assert [text for text in (NEW, password_of(ben)) if text in body] == []


def test_users_are_not_added_here(site):
    assert site.post(reverse("admin:approvals_user_add"), {"username": "eve"}).status_code == 403


def test_deleting_somebody_with_history_says_what_names_them(story, site):
    story.approved()
    answer = site.post(
        reverse("admin:approvals_user_delete", args=[story.user["ada"].pk]), {"post": "yes"}, follow=True
    )
    assert "ada is named by 1 membership, 1 draft, 1 revision, 1 exclusion" in messages(answer)[0]


def test_deleting_somebody_with_history_changes_nothing(story, site):
    story.approved()
    before = rows()
    site.post(reverse("admin:approvals_user_delete", args=[story.user["ada"].pk]), {"post": "yes"})
    assert rows() == before


def test_the_tables_protect_somebody_with_history(story):
    story.propose()
    with pytest.raises((ProtectedError, IntegrityError)), transaction.atomic():
        story.user["ada"].delete()


def test_staff_change_nobody(story, staff):
    ben, before = story.user["ben"], rows()
    logged_in(staff).post(page(ben), posted(ben, email="eve@example.test"))
    assert rows() == before
