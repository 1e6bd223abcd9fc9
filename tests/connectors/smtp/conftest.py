"""Certificates, channels, jobs and one way to send."""

import asyncio
import ipaddress
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from approvals.connectors.base import Deadline, Job, Receipt, Settings
from approvals.connectors.outbound import Outbound
from approvals.connectors.smtp import SmtpConnector, wire
from approvals.domain.binding import TargetRef, bind
from tests.connectors.conftest import DELIVERY
from tests.connectors.smtp.servers import PASSWORD, USER

BEGUN = datetime(2026, 11, 30, 12, 0, 7, 123456, tzinfo=UTC)
PAYLOAD = {"subject": "The lift is stuck", "text": "On floor 3.\n.\nSince noon.\n"}
TO = "ada@example.org"


def mail_settings(port: int = 587, *, secret: str = "", **config: Any) -> Settings:
    """A channel to loopback, in the clear unless told otherwise."""
    known = {"host": "127.0.0.1", "port": port, "security": "none", "sender": "room@example.org"}
    return Settings(
        "smtp", "office", secret, concurrency="append", config={**known, **config}, operations={"mail.send": {}}
    )


def mail_job(settings: Settings, *, resource: str = TO, begun_at: datetime | None = BEGUN, **payload: Any) -> Job:
    target = TargetRef("smtp", "office", resource)
    binding = bind(operation="mail.send", target=target, payload={**PAYLOAD, **payload})
    request = SmtpConnector(Outbound(allow_private=True)).render(binding, DELIVERY, settings)
    return Job(request, binding, DELIVERY, settings, "mail.send", begun_at=begun_at)


def environ_for(port: int, value: str = f"{USER}:{PASSWORD}") -> dict[str, str]:
    hosts = f"127.0.0.1:{port}"
    return {"REVIEWROOM_TARGET_SECRET_MAIL": value, "REVIEWROOM_TARGET_SECRET_MAIL_HOSTS": hosts}


@pytest.fixture
def post() -> Callable[..., Receipt]:
    """Sends one message to a port and gives the receipt."""

    def send(
        port: int,
        *,
        to: str = TO,
        text: str = PAYLOAD["text"],
        login: bool = False,
        deadline: Deadline | None = None,
        **config: Any,
    ) -> Receipt:
        settings = mail_settings(port, secret="MAIL" if login else "", **config)
        connector = SmtpConnector(Outbound(allow_private=True, environ=environ_for(port)))
        return asyncio.run(connector.send(mail_job(settings, resource=to, text=text), deadline or Deadline(10)))

    return send


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Key and self-made certificate of 127.0.0.1, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "mail.test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("mail-tls") / "both.pem"
    file.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + made.public_bytes(Encoding.PEM)
    )
    return file


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    """The server's side."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


@pytest.fixture
def trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes the certificate one that this machine trusts."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    wire.tls_context.cache_clear()
    yield
    wire.tls_context.cache_clear()
