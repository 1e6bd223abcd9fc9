"""Access tokens from Google's OAuth, through `google-auth` and our own client.

The secret is the JSON text of an authorized user (a refresh token) or of a service account. Only its credentials are
used: where they are sent is said by the channel and by the hosts the secret is bound to, never by the secret itself.
Access tokens are kept in memory until shortly before they run out, and nowhere else.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl

from google.auth import transport
from google.auth.credentials import Credentials
from google.auth.exceptions import TransportError
from google.oauth2 import credentials as user_credentials
from google.oauth2 import service_account

from approvals.connectors import secrets
from approvals.connectors.answers import Answer, Failure, Response, storable
from approvals.connectors.base import Deadline, Outcome, Receipt
from approvals.connectors.classify import write_receipt
from approvals.connectors.google_business import reviews
from approvals.connectors.outbound import Outbound
from approvals.connectors.secrets import Secret, SecretError

SCOPE = "https://www.googleapis.com/auth/business.manage"
MARGIN = timedelta(minutes=2)  # a token is not used in the last minutes of its life
_FIELDS = {
    "authorized_user": ("client_id", "client_secret", "refresh_token"),
    "service_account": ("client_email", "private_key"),
}
_HIDDEN_FIELDS = ("client_secret", "refresh_token", "private_key")
_SHOWN = ("url", "status", "headers", "timing", "fault", "error")  # of a token answer; its body may hold a token
_PASSING = frozenset({"internal_failure", "server_error", "temporarily_unavailable"})  # said with a 400 as well
_TEXT_CHARACTERS = 300
_TOKEN = re.compile(r"[!-~]+")


@dataclass(frozen=True)
class Access:
    """An access token, and everything that must not be shown where it is used."""

    token: Secret
    good_until: datetime
    key: tuple[str, str]
    others: tuple[Secret, ...] = field(repr=False)

    def hide(self, answer: Answer) -> Answer:
        """The same answer, whose evidence will hold neither token nor credentials."""
        return _hide(answer, (self.token, *self.others))


@dataclass(frozen=True)
class NoAccess:
    """Why there is no access token. Nothing was asked of the API."""

    reason: str
    pause: bool = False
    retry_after_seconds: float | None = None
    evidence: dict[str, Any] = field(default_factory=dict)

    @property
    def receipt(self) -> Receipt:
        return Receipt(
            Outcome.NOT_SENT,
            f"There is no access token, so nothing was sent. {self.reason}",
            evidence=self.evidence,
            pause=self.pause,
            retry_after_seconds=self.retry_after_seconds,
        )


_kept: dict[tuple[str, str], Access] = {}


async def access(outbound: Outbound, name: str, api_url: str, token_url: str, deadline: Deadline) -> Access | NoAccess:
    """A token for the API, kept or new. The secret must be meant for both hosts."""
    try:
        secrets.find(name, api_url, outbound.environ)
        secret = secrets.find(name, token_url, outbound.environ)
        info = _read(secret)
        key = (token_url, hashlib.sha256(secret.value.encode()).hexdigest())
        kept = _kept.get(key)
        if kept is not None and kept.good_until > outbound.now():
            return kept
        credentials = await asyncio.to_thread(_credentials, name, info, token_url)
    except SecretError as exc:
        return NoAccess(str(exc), pause=True, evidence={"fault": "secret", "error": str(exc)})
    others = (secret, *(Secret(name, info[field]) for field in _HIDDEN_FIELDS if info.get(field)))
    return await _refresh(outbound, credentials, key, others, deadline)


def forget(refused: Access) -> None:
    """Use this token no more; a newer one that another thread fetched meanwhile stays."""
    if _kept.get(refused.key) == refused:
        _kept.pop(refused.key, None)


class _Bridge(transport.Request):
    """Carries the one request google-auth makes, from its thread to the loop that waits for it.

    Anything but a plain 200 ends the refresh at once: google-auth would sleep and ask again, beyond our deadline.
    """

    def __init__(self, outbound: Outbound, deadline: Deadline) -> None:
        self._outbound = outbound
        self._deadline = deadline
        self._loop = asyncio.get_running_loop()
        self.answer: Answer | None = None
        self.assertion = ""  # what a service account signed: good for a token by itself, for an hour

    def __call__(
        self,
        url: str,
        method: str = "GET",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,  # ours is the deadline
        **_ignored: object,
    ) -> "_Answer":
        body = body or b""
        self.assertion = dict(parse_qsl(body.decode())).get("assertion", "")
        call = self._outbound.call(method, url, self._deadline, headers=(headers or {}).items(), body=body)
        self.answer = asyncio.run_coroutine_threadsafe(call, self._loop).result()
        if not isinstance(self.answer, Response) or self.answer.status != 200:
            raise TransportError("no plain success")
        return _Answer(self.answer)


class _Answer(transport.Response):
    """Our answer as google-auth reads it."""

    def __init__(self, answer: Response) -> None:
        self._answer = answer

    @property
    def status(self) -> int:
        return self._answer.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._answer.headers

    @property
    def data(self) -> bytes:
        return self._answer.body


async def _refresh(
    outbound: Outbound, credentials: Credentials, key: tuple[str, str], others: tuple[Secret, ...], deadline: Deadline
) -> Access | NoAccess:
    """google-auth is synchronous, so it runs in a thread; its call runs in this loop and under this deadline."""
    bridge = _Bridge(outbound, deadline)
    try:
        await asyncio.to_thread(credentials.refresh, bridge)
        value, expiry = credentials.token, credentials.expiry
        if not isinstance(value, str) or not _TOKEN.fullmatch(value):
            raise ValueError("no token that fits into a header")
    except Exception:
        # Whatever it raises may quote the answer, which may hold a token: only the answer itself is looked at.
        signed = Secret(others[0].name, bridge.assertion)
        return _refused(bridge.answer, (*others, signed), outbound.now())
    good_until = outbound.now() if expiry is None else expiry.replace(tzinfo=UTC) - MARGIN
    found = Access(Secret(others[0].name, value), good_until, key, others)
    _kept[key] = found
    return found


def _hide(answer: Answer, hidden: tuple[Secret, ...]) -> Answer:
    return replace(answer, hidden=(*answer.hidden, *hidden)) if isinstance(answer, Response) else answer


def _read(secret: Secret) -> dict[str, str]:
    """The credentials in the secret and their type, nothing else of it. Raises SecretError."""
    try:
        document = json.loads(secret.value)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise SecretError(f"The secret {secret.name} is not the JSON of an authorized user or a service account.")
    kind = document.get("type") or ("authorized_user" if "refresh_token" in document else None)
    if not isinstance(kind, str) or kind not in _FIELDS:
        raise SecretError(f"The secret {secret.name} has to be of type {' or '.join(_FIELDS)}.")
    missing = [name for name in _FIELDS[kind] if not isinstance(document.get(name), str) or not document[name]]
    if missing:
        raise SecretError(f"The secret {secret.name} ({kind}) lacks {', '.join(missing)}.")
    wanted = (*_FIELDS[kind], "private_key_id")
    return {"type": kind} | {name: document[name] for name in wanted if isinstance(document.get(name), str)}


def _credentials(name: str, info: dict[str, str], token_url: str) -> Credentials:
    if info["type"] == "authorized_user":
        return user_credentials.Credentials(
            None,
            refresh_token=info["refresh_token"],
            client_id=info["client_id"],
            client_secret=info["client_secret"],
            token_uri=token_url,
        )
    try:
        return service_account.Credentials.from_service_account_info({**info, "token_uri": token_url}, scopes=[SCOPE])
    except Exception:
        # The message of a broken key is not worth the risk of quoting the key.
        raise SecretError(f"The private key in the secret {name} cannot be read.") from None


def _refused(answer: Answer | None, hidden: tuple[Secret, ...], now: datetime) -> NoAccess:
    """A failure passes, or a person has to mend it; the write itself was not begun either way."""
    if answer is None:
        return NoAccess("google-auth failed before it asked for one.", pause=True)
    answer = _hide(answer, hidden)
    told = _told(answer)
    receipt = write_receipt(answer, find_id=lambda document: None, now=now)
    passing = told.get("error") in _PASSING or reviews.is_quota(answer)
    return NoAccess(
        _sentence(answer, told),
        pause=not passing and (receipt.pause or receipt.outcome is Outcome.REFUSED),
        retry_after_seconds=receipt.retry_after_seconds or reviews.retry_delay(answer),
        evidence={key: value for key, value in answer.evidence.items() if key in _SHOWN} | told,
    )


def _sentence(answer: Answer, told: dict[str, str]) -> str:
    if isinstance(answer, Failure):
        return answer.reason
    if answer.status == 200:
        return "The token endpoint answered 200 without a token that can be used."
    said = ": ".join(told.values())
    return f"The token endpoint answered {answer.status}{f' ({said})' if said else ''}."


def _told(answer: Answer) -> dict[str, str]:
    """`error` and `error_description` (RFC 6749, 5.2) of an error, secrets taken out."""
    if not isinstance(answer, Response) or answer.status == 200:
        return {}
    try:
        document = answer.json()
    except ValueError:
        return {}
    found = {name: document.get(name) for name in ("error", "error_description")} if isinstance(document, dict) else {}
    return {
        name: str(storable(secrets.redact(" ".join(text.split()), answer.hidden)))[:_TEXT_CHARACTERS]
        for name, text in found.items()
        if isinstance(text, str)
    }
