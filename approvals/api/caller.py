"""Who calls: a bearer token becomes the actor of one request, made anew each time."""

import re
from uuid import uuid4

from django.http import HttpRequest
from ninja.security import HttpBearer

from approvals.domain.actor import Actor
from approvals.domain.errors import Unauthenticated
from approvals.services import audit, tokens

SANE_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Bearer(HttpBearer):
    """Lets live tokens of active users through."""

    def authenticate(self, request: HttpRequest, token: str) -> Actor:
        found = tokens.authenticate(token)
        return Actor(
            kind=found.user.kind,
            name=found.user.username,
            via="api",
            user_id=found.user_id,
            acts_for_id=found.acts_for_id,
            scopes=frozenset(found.scopes),
            address=address_of(request),
            correlation_id=correlation_id(request),
        )


def of(request: HttpRequest) -> Actor:
    """Gives the actor that `Bearer` let through."""
    actor = request.auth  # type: ignore[attr-defined]
    assert isinstance(actor, Actor)
    return actor


def record_stranger(request: HttpRequest, refusal: Unauthenticated) -> None:
    """Records a failed authentication, under the address it came from."""
    address = address_of(request)
    nobody = Actor(kind="anonymous", name=address, via="api", address=address, correlation_id=correlation_id(request))
    audit.record_refusal(actor=nobody, verb="authenticate", refusal=refusal)


def address_of(request: HttpRequest) -> str:
    """Gives the peer's address. Forwarded headers are not read: anybody can write them."""
    return str(request.META.get("REMOTE_ADDR", ""))


def correlation_id(request: HttpRequest) -> str:
    """Gives the one id that ties this request to all it causes: the caller's own if it is sane, else a new one."""
    known: str | None = getattr(request, "correlation_id", None)
    if known is None:
        asked = request.headers.get("X-Request-Id", "")
        known = asked if SANE_REQUEST_ID.fullmatch(asked) else uuid4().hex
        request.correlation_id = known  # type: ignore[attr-defined]
    return known
