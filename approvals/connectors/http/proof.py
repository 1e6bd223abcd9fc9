"""How a request shows whose it is: a signature of this very attempt, or the secret in a header."""

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from approvals.connectors.base import Settings
from approvals.connectors.secrets import Secret, SecretError

Prove = Callable[[Secret], list[tuple[str, str]]]


def prover(settings: Settings, webhook_id: UUID, body: bytes, now: datetime) -> Prove:
    """What gives the headers for one attempt."""
    auth = settings.config.get("auth")
    return _signer(webhook_id, body, now) if auth is None else _bearer(auth)


def _signer(webhook_id: UUID, body: bytes, now: datetime) -> Prove:
    """The headers of Standard Webhooks."""

    def sign(secret: Secret) -> list[tuple[str, str]]:
        moment = str(int(now.timestamp()))
        content = f"{webhook_id}.{moment}.".encode() + body
        signature = b64encode(hmac.digest(secret.key, content, hashlib.sha256)).decode()
        return [("webhook-timestamp", moment), ("webhook-signature", f"v1,{signature}")]

    return sign


def _bearer(auth: dict[str, Any]) -> Prove:
    def show(secret: Secret) -> list[tuple[str, str]]:
        value = b64encode(secret.value.encode()).decode() if auth.get("base64") else secret.value
        if not (value.isascii() and value.isprintable()):
            raise SecretError(f"The secret {secret.name} cannot be sent in a header: it has to be printable ASCII.")
        return [(auth["header"], auth.get("prefix", "") + value)]

    return show
