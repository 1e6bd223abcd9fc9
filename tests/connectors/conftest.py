"""Remotes, a client with secrets of its own, and jobs."""

import asyncio
import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from approvals.connectors.base import Deadline, Job, Settings
from approvals.connectors.http import HttpConnector
from approvals.connectors.outbound import Outbound
from approvals.connectors.roundup import RoundupConnector
from approvals.domain.binding import Corrects, TargetRef, bind
from reviewroom.demo.tracker import Tracker
from tests.connectors.remote import Remote, reply

DELIVERY = UUID("0f1c9c3e-5d5e-5b06-9d25-6f3a2d1f7a10")
CREATED = reply(201, '{"id": "41"}')
SECRET = "whsec_bWFya2VyLXNlY3JldC1tYXJrZXI="


@pytest.fixture
def run() -> Callable[..., Any]:
    return asyncio.run


@pytest.fixture
def deadline() -> Deadline:
    return Deadline(seconds=5)


@pytest.fixture
def remote() -> Iterator[Remote]:
    with Remote(CREATED) as started:
        yield started


@pytest.fixture
def environ(remote: Remote) -> dict[str, str]:
    return {"REVIEWROOM_TARGET_SECRET_HOOK": SECRET, "REVIEWROOM_TARGET_SECRET_HOOK_HOSTS": remote.host}


@pytest.fixture
def http(environ: dict[str, str]) -> HttpConnector:
    return HttpConnector(Outbound(allow_private=True, environ=environ))


@pytest.fixture
def settings_for() -> Callable[..., Settings]:
    """Settings of an `http` channel whose every call goes to the address given."""
    return http_settings


@pytest.fixture
def job_for(http: HttpConnector) -> Callable[..., Job]:
    """A job of `http`, rendered as it would be for an approval."""

    def make(settings: Settings, **changes: Any) -> Job:
        return make_job(http, settings, **changes)

    return make


def http_settings(url: str, *, method: str = "POST", secret: str = "HOOK", **parts: dict[str, Any]) -> Settings:
    operation = {
        "send": {"method": method, "url": f"{url}/items", "id_pointer": "/id"},
        "lookup": {"url": f"{url}/items?operation_id={{delivery_id}}", "id_pointer": "/items/0/id"},
        "verify": {"url": f"{url}/items/{{remote_id}}", "body_pointer": "/payload"},
        "retract": {"method": "DELETE", "url": f"{url}/items/{{remote_id}}"},
    }
    return Settings("http", "shop", secret, operations={"item.create": {**operation, **parts}})


def make_job(
    connector: HttpConnector | RoundupConnector,
    settings: Settings,
    *,
    payload: dict[str, Any] | None = None,
    resource: str = "items",
    operation: str = "item.create",
    remote_id: str | None = "41",
    corrects: Corrects | None = None,
    delivery_id: UUID = DELIVERY,
) -> Job:
    target = TargetRef(settings.connector, settings.account, resource)
    binding = bind(
        operation=operation,
        target=target,
        payload={"name": "Key", "price": 1} if payload is None else payload,
        corrects=corrects,
    )
    request = connector.render(binding, delivery_id, settings)
    return Job(request, binding, delivery_id, settings, operation, remote_id, begun_at=datetime.now(UTC))


@pytest.fixture(scope="session")
def tracker() -> Iterator[Tracker]:
    """A real Roundup."""
    with Tracker() as started:
        yield started


@pytest.fixture(scope="session")
def self_signed(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """The server side of a certificate that nobody vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    file.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + certificate.public_bytes(Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context
