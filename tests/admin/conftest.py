"""Who visits the admin site, and how the whole database is compared before and after."""

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.contrib.sessions.models import Session
from django.test import Client

from approvals.models import User

OWN_TRACES = (LogEntry, Session)


@pytest.fixture
def superuser(story):
    """max with everything Django can give."""
    user = story.user["max"]
    user.is_staff = user.is_superuser = True
    user.save()
    return user


@pytest.fixture
def staff(story):
    """vic with every permission Django has, and yet no superuser."""
    user = story.user["vic"]
    user.is_staff = True
    user.save()
    user.user_permissions.set(Permission.objects.all())
    return user


@pytest.fixture
def site(superuser):
    """The admin site as a superuser."""
    return logged_in(superuser)


def logged_in(user):
    client = Client()
    client.force_login(user)
    return client


def rows():
    """Every row of every table but the visitor's own traces, as the database holds it."""
    found = {}
    for model in apps.get_models():
        if model in OWN_TRACES:
            continue
        found[model._meta.label] = [_plain(row) for row in model._base_manager.order_by("pk").values()]
    return found


def _plain(row):
    return {
        name: bytes(value) if isinstance(value, memoryview) else value
        for name, value in row.items()
        if name != "last_login"
    }


def messages(response):
    return [str(message) for message in response.context["messages"]]


def password_of(user):
    return User.objects.get(pk=user.pk).password
