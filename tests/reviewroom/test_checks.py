"""Settings that are wrong together."""

import pytest
from django.core.checks import run_checks

from reviewroom import checks


def found():
    return [message.id for message in run_checks(tags=[checks.TAG])]


def test_the_defaults_pass():
    assert found() == []


def test_requests_must_not_be_transactions(settings, monkeypatch):
    monkeypatch.setitem(settings.DATABASES["default"], "ATOMIC_REQUESTS", True)
    assert found() == ["reviewroom.E001"]


@pytest.mark.parametrize(("timeout", "messages"), [(29, []), (30, ["reviewroom.E002"])])
def test_a_send_takes_less_than_half_its_lease(settings, timeout, messages):
    settings.REVIEWROOM_LEASE_SECONDS = 60
    settings.REVIEWROOM_SEND_TIMEOUT_SECONDS = timeout
    assert found() == messages


@pytest.mark.parametrize(("grace", "messages"), [(80, []), (79, ["reviewroom.E003"])])
def test_absence_is_read_after_lease_and_timeout(settings, grace, messages):
    settings.REVIEWROOM_LEASE_SECONDS = 60
    settings.REVIEWROOM_SEND_TIMEOUT_SECONDS = 20
    settings.REVIEWROOM_ABSENT_GRACE_SECONDS = grace
    assert found() == messages


def test_a_secret_needs_hosts(monkeypatch):
    monkeypatch.setenv("REVIEWROOM_TARGET_SECRET_SHOP", "value")
    assert found() == ["reviewroom.E004"]


@pytest.mark.parametrize("hosts", ["https://shop.example", "*.example", "shop.example/path", "a b"])
def test_a_host_is_no_url_and_no_pattern(monkeypatch, hosts):
    monkeypatch.setenv("REVIEWROOM_TARGET_SECRET_SHOP", "value")
    monkeypatch.setenv("REVIEWROOM_TARGET_SECRET_SHOP_HOSTS", hosts)
    assert found() == ["reviewroom.E005"]


def test_hosts_are_names_or_addresses_with_a_port(monkeypatch):
    monkeypatch.setenv("REVIEWROOM_TARGET_SECRET_SHOP", "value")
    monkeypatch.setenv("REVIEWROOM_TARGET_SECRET_SHOP_HOSTS", "shop.example, 10.0.0.1:8443,[::1]:80")
    assert found() == []
