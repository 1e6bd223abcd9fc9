"""Addresses that must not be called: refused when a channel is saved and again on the address connected to."""

import socket
import threading
from uuid import uuid4

import pytest

from approvals.connectors import outbound as outbounds
from approvals.connectors.addresses import AddressError, check_url
from approvals.connectors.answers import Fault
from approvals.connectors.base import ConfigError, Deadline
from approvals.connectors.http import HttpConnector
from approvals.connectors.outbound import Outbound, _Resolver
from approvals.sinks.base import SinkError
from approvals.sinks.registry import make as make_sink
from tests.connectors.conftest import http_settings

PRIVATE = [
    "http://127.0.0.1/",
    "http://127.8.9.10/",
    "http://localhost/",
    "http://localhost./",
    "http://LOCALHOST:8000/",
    "http://a.localhost/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",  # shared by the customers of a provider
    "http://198.18.0.1/",  # benchmarks
    "http://192.0.0.8/",  # protocol assignments
    "http://192.0.2.1/",  # documentation
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[fc00::1]/",
    "http://[fec0::1]/",
    "http://[2001:db8::1]/",
    "http://[3fff::1]/",
    "http://[::ffff:127.0.0.1]/",  # mapped
    "http://[::ffff:7f00:1]/",
    "http://[::FFFF:127.0.0.1]/",
    "http://[0:0:0:0:0:ffff:127.0.0.1]/",
    "http://[::127.0.0.1]/",  # compatible
    "http://[::ffff:0:127.0.0.1]/",  # translated
    "http://[64:ff9b::7f00:1]/",  # NAT64
    "http://[64:ff9b::10.0.0.1]/",
    "http://[64:ff9b:1::808:808]/",  # NAT64 of one network
    "http://[64:ff9b:1:7f00:0:100::]/",
    "http://[2002:7f00:1::]/",  # 6to4
    "http://[2002:a00:1::1]/",
    "http://[2606:4700::5efe:7f00:1]/",  # ISATAP
    "http://[2606:4700::200:5efe:10.0.0.1]/",
]
ODD = [  # other ways to write 127.0.0.1, 10.0.0.1 or 169.254.169.254; some programs understand each of them
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://00000177.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://127.0.0.1./",
    "http://127.0.0.1../",
    "http://127.000.000.001/",
    "http://010.0.0.1/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0xA9.0xFE.0xA9.0xFE/",
    "http://0251.0376.0251.0376/",
    "http://4294967297/",
    "http://127.0.0.1.1/",
    "http://name.1/",
    "http://name.0x7f/",
    "http://127%2e0%2e0%2e1/",
    "http://%31%32%37.0.0.1/",
    "http://%6cocalhost/",
    "http://127。0。0。1/",
    "http://127．0．0．1/",
    "http://127｡0｡0｡1/",
    "http://１２７.0.0.1/",
    "http://①②⑦.0.0.1/",
    "http://١٢٧.0.0.1/",
    "http://ⓛocalhost/",
    "http://localhost\u3002/",
    "http://host\u00ad.example/",
    "http://[::ffff:127.0.0.1%25lo]/",
    "http://[2606:4700::1111%25eth0]/",
    "http://[2606:4700::1111%eth0]/",
    "http://[::ffff:127.1]/",
    "http://[127.0.0.1]/",
    "http://[v1.fe80::a]/",
    "http://[::1/",
    "http://::1/",
    "http://[::1]x/",
    "http://.localhost/",
    "http://a..example/",
    "http://host.example:0/",
    "http://host.example:/",
    "http://host.example:99999/",
    "http://host.example:+80/",
    "http://host.example:8o/",
]
NEVER = [
    "http://169.254.169.254/",
    "http://169.254.170.2/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::169.254.169.254]/",
    "http://[::ffff:0:169.254.169.254]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::169.254.169.254]/",
    "http://[64:ff9b:1:a9fe:a9:fe00::]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://[fd00::5efe:a9fe:a9fe]/",
    "http://[2001:0:a9fe:a9fe::1]/",  # Teredo
    "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://[fd00:ec2::254]/",
    "http://[fd20:ce::254]/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://0.0.0.0/",
    "http://[::]/",
    "http://[::ffff:0.0.0.0]/",
    "http://[::ffff:0:0]/",
    "http://[64:ff9b::]/",
    "http://224.0.0.1/",
    "http://[ff02::1]/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://user@host.example/",
    "http://@host.example/",
    "http://user:password@host.example/",
    "http://host.example@127.0.0.1/",
    "http://host.example%40127.0.0.1/",
    "http://host.example\\@127.0.0.1/",
    "http://host.example#@127.0.0.1/",
    "http://host.example?@127.0.0.1#x",
    "http://host.exa\tmple/",
    "http://host.example\r\n/",
    " http://host.example/",
    "http:///path",
    "http:host.example",
    "file:///etc/passwd",
    "gopher://host.example/",
    "unix:///var/run/docker.sock",
    "//host.example/",
    "",
    *ODD,
]


@pytest.mark.parametrize("url", PRIVATE + NEVER)
def test_the_check_at_save_refuses(url):
    with pytest.raises(AddressError):
        check_url(url, allow_private=False)


@pytest.mark.parametrize("url", NEVER)
def test_no_setting_allows_the_rest(url):
    with pytest.raises(AddressError):
        check_url(url, allow_private=True)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example/x?y=1",
        "https://API.example./",
        "https://xn--mnchen-3ya.example/",
        "http://3com.example/",
        "http://1.2.3.4.example/",
        "http://tracker/",
        "http://my_host.example/",
        "http://8.8.8.8:8080/",
        "https://[2606:4700::1111]/",
        "https://[2606:4700:0:0:0:0:0:1111]:8443/",
        "https://[::ffff:8.8.8.8]/",
        "https://[64:ff9b::8.8.8.8]/",
    ],
)
def test_a_public_url_is_taken(url):
    check_url(url, allow_private=False)


@pytest.mark.parametrize("url", PRIVATE)
def test_private_addresses_can_be_allowed(url):
    check_url(url, allow_private=True)


@pytest.mark.parametrize("url", PRIVATE + NEVER)
def test_nothing_is_connected_to_them(url, run):
    answer = run(Outbound(allow_private=False).call("GET", url, Deadline(1)))
    assert answer.fault is Fault.ADDRESS


# Names


def addresses(*found):
    async def resolve(_host, port, _family):
        return [_info(address, port) for address in found]

    return resolve


def _info(address, port):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return (family, socket.SOCK_STREAM, 6, "", (address, port))


def answering(*rounds):
    """A name server that answers differently each time."""
    left = list(rounds)

    def resolve(_host, port, *_rest):
        return [_info(address, port) for address in (left.pop(0) if len(left) > 1 else left[0])]

    return resolve


def reach(run, remote, *, allow_private=False):
    return run(Outbound(allow_private=allow_private).call("GET", f"http://name.example:{remote.port}/", Deadline(2)))


@pytest.mark.parametrize(
    "found",
    [
        ("127.0.0.1",),
        ("8.8.8.8", "127.0.0.1"),
        ("127.0.0.1", "8.8.8.8"),
        ("8.8.8.8", "::1"),
        ("8.8.8.8", "::ffff:127.0.0.1"),
        ("fe80::1%lo", "8.8.8.8"),
        ("2606:4700::1111", "10.0.0.1"),
    ],
)
def test_a_name_with_one_forbidden_address_is_not_called(run, remote, monkeypatch, found):
    monkeypatch.setattr("approvals.connectors.outbound._getaddrinfo", addresses(*found))
    assert (reach(run, remote).fault, remote.received) == (Fault.ADDRESS, [])


@pytest.mark.parametrize("found", ["169.254.169.254", "fd00:ec2::254", "::ffff:169.254.169.254", "0.0.0.0"])
def test_a_name_never_leads_to_a_metadata_service(run, remote, monkeypatch, found):
    monkeypatch.setattr("approvals.connectors.outbound._getaddrinfo", addresses(found))
    assert reach(run, remote, allow_private=True).fault is Fault.ADDRESS


def test_a_name_that_was_public_when_the_channel_was_saved_is_looked_up_again(run, remote, monkeypatch):
    monkeypatch.setattr("socket.getaddrinfo", answering(*[["8.8.8.8"]] * 4, ["127.0.0.1"]))
    run(HttpConnector(Outbound(allow_private=False)).check_names(http_settings("https://name.example")))
    assert (reach(run, remote).fault, remote.received) == (Fault.ADDRESS, [])


def test_the_address_that_was_checked_is_the_one_connected_to(run, remote, monkeypatch):
    """The name is not resolved a second time between the look and the connection."""
    asked = []

    def resolve(host, port, *_rest):
        asked.append(host)
        return [_info("127.0.0.1" if len(asked) == 1 else "127.0.0.9", port)]

    monkeypatch.setattr("socket.getaddrinfo", resolve)
    assert reach(run, remote, allow_private=True).status == 201
    assert asked == ["name.example"]


@pytest.fixture
def rebound(monkeypatch):
    """A resolver that lets everything pass."""

    async def resolve(_self, host, port, family):
        kind = {"proto": 6, "flags": socket.AI_NUMERICHOST, "family": socket.AF_INET}
        return [{"hostname": host, "host": "127.0.0.1", "port": port, **kind}]

    monkeypatch.setattr(_Resolver, "resolve", resolve)


def test_the_address_connected_to_is_checked_whoever_resolved_it(run, remote, rebound):
    """A name that changes its address between the look and the connection gains nothing."""
    assert (reach(run, remote).fault, remote.received) == (Fault.ADDRESS, [])


def test_the_other_end_of_a_connection_is_checked_whoever_made_it(run, remote, rebound, monkeypatch):
    monkeypatch.setattr(Outbound, "_socket", lambda _self, info: socket.socket(*info[:3]))
    assert (reach(run, remote).fault, remote.received) == (Fault.ADDRESS, [])


def test_a_send_to_a_forbidden_address_pauses_the_channel(run, deadline, remote, job_for):
    connector = HttpConnector(Outbound(allow_private=False, environ={}))
    receipt = run(connector.send(job_for(http_settings(remote.url, secret="")), deadline))
    assert (receipt.outcome, receipt.pause, remote.received) == ("not_sent", True, [])


# Channels


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


def test_a_name_server_that_hangs_does_not_hold_up_the_saving(run, monkeypatch):
    released = threading.Event()
    monkeypatch.setattr(outbounds, "NAME_SECONDS", 0.1)
    monkeypatch.setattr("socket.getaddrinfo", lambda *_args: released.wait(5) and [])
    run(Outbound(allow_private=False).check_name("/url", "https://slow.example/"))
    released.set()


# The audit sink


@pytest.mark.parametrize("url", [url for url in PRIVATE + NEVER if url.startswith("http")])
def test_a_sink_at_a_forbidden_address_is_not_taken(url):
    with pytest.raises(SinkError):
        make_sink(url, "", Outbound(allow_private=False))


def test_a_sink_whose_name_leads_to_a_forbidden_address_gets_nothing(run, remote, monkeypatch):
    monkeypatch.setattr("socket.getaddrinfo", answering(["127.0.0.1"]))
    sink = make_sink(f"http://sink.example:{remote.port}/events", "marker", Outbound(allow_private=False))
    answer = run(sink.post(uuid4(), b"{}", Deadline(2)))
    assert (answer.ok, answer.retry, remote.received) == (False, True, [])
