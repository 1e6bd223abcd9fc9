"""Addresses that must not be called: refused when a channel is saved and again on the address connected to."""

import socket

import pytest

from approvals.connectors.addresses import AddressError, check_url
from approvals.connectors.answers import Fault
from approvals.connectors.base import ConfigError, Deadline
from approvals.connectors.http import HttpConnector
from approvals.connectors.outbound import Outbound, _Resolver
from tests.connectors.conftest import http_settings

PRIVATE = [
    "http://127.0.0.1/",
    "http://127.0.0.1./",
    "http://localhost/",
    "http://LOCALHOST:8000/",
    "http://a.localhost/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://[fc00::1]/",
    "http://[fec0::1]/",
]
NEVER = [
    "http://169.254.169.254/",
    "http://[::ffff:169.254.169.254]/",
    "http://2852039166/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fd00:ec2::254]/",
    "http://100.100.100.200/",
    "http://0.0.0.0/",
    "http://[::]/",
    "http://224.0.0.1/",
    "http://[ff02::1]/",
    "http://user@host.example/",
    "http://user:password@host.example/",
    "http://host.example\\@127.0.0.1/",
    "http://host.example#@127.0.0.1/",
    "http://host.exa\tmple/",
    "http://host.example:99999/",
    "http:///path",
    "file:///etc/passwd",
    "gopher://host.example/",
    "//host.example/",
    "",
]


@pytest.mark.parametrize("url", PRIVATE + NEVER)
def test_the_check_at_save_refuses(url):
    with pytest.raises(AddressError):
        check_url(url, allow_private=False)


@pytest.mark.parametrize("url", NEVER)
def test_no_setting_allows_the_rest(url):
    with pytest.raises(AddressError):
        check_url(url, allow_private=True)


@pytest.mark.parametrize("url", ["https://api.example/x?y=1", "http://8.8.8.8:8080/", "https://[2606:4700::1111]/"])
def test_a_public_url_is_taken(url):
    check_url(url, allow_private=False)


@pytest.mark.parametrize("url", PRIVATE)
def test_private_addresses_can_be_allowed(url):
    check_url(url, allow_private=True)


@pytest.mark.parametrize("url", PRIVATE + NEVER)
def test_nothing_is_connected_to_them(url, run):
    answer = run(Outbound(allow_private=False).call("GET", url, Deadline(1)))
    assert answer.fault is Fault.ADDRESS


def addresses(*found):
    async def resolve(_host, port, _family):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    return resolve


def test_a_name_with_a_public_and_a_private_address_is_not_called(run, remote, monkeypatch):
    monkeypatch.setattr("approvals.connectors.outbound._getaddrinfo", addresses("8.8.8.8", "127.0.0.1"))
    answer = run(Outbound(allow_private=False).call("GET", f"http://both.example:{remote.port}/", Deadline(2)))
    assert (answer.fault, remote.received) == (Fault.ADDRESS, [])


def test_the_address_connected_to_is_checked_whoever_resolved_it(run, remote, monkeypatch):
    """A name that changes its address between the look and the connection gains nothing."""

    async def rebound(_self, host, port, family):
        kind = {"proto": 6, "flags": socket.AI_NUMERICHOST, "family": socket.AF_INET}
        return [{"hostname": host, "host": "127.0.0.1", "port": port, **kind}]

    monkeypatch.setattr(_Resolver, "resolve", rebound)
    answer = run(Outbound(allow_private=False).call("GET", f"http://rebound.example:{remote.port}/", Deadline(2)))
    assert (answer.fault, remote.received) == (Fault.ADDRESS, [])


def test_a_send_to_a_forbidden_address_pauses_the_channel(run, deadline, remote, job_for):
    connector = HttpConnector(Outbound(allow_private=False, environ={}))
    receipt = run(connector.send(job_for(http_settings(remote.url, secret="")), deadline))
    assert (receipt.outcome, receipt.pause, remote.received) == ("not_sent", True, [])


@pytest.mark.parametrize("part", ["send", "lookup", "verify", "retract"])
def test_a_channel_with_a_forbidden_url_is_not_saved(part):
    settings = http_settings("https://api.example")
    template = settings.operations["item.create"][part]
    template["url"] = template["url"].replace("api.example", "169.254.169.254")
    with pytest.raises(ConfigError) as caught:
        HttpConnector(Outbound(allow_private=False)).check(settings)
    assert caught.value.pointer == f"/operations/item.create/{part}/url"


def test_a_channel_whose_host_resolves_to_a_private_address_is_not_saved(run, monkeypatch):
    monkeypatch.setattr("approvals.connectors.outbound._getaddrinfo", addresses("8.8.8.8", "10.0.0.1"))
    with pytest.raises(ConfigError, match=r"10\.0\.0\.1"):
        run(HttpConnector(Outbound(allow_private=False)).check_names(http_settings("https://api.example")))


def test_a_channel_whose_host_does_not_resolve_now_is_saved(run):
    run(HttpConnector(Outbound(allow_private=False)).check_names(http_settings("https://nowhere.invalid")))
