"""The ninja application: who is let in, how bodies are read, and what becomes of everything that is raised."""

import logging
from typing import NoReturn

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from ninja.errors import AuthenticationError, HttpError, ValidationError

from approvals.api import caller, problems, reading
from approvals.api.contract import Contract
from approvals.api.views import approvals, channels, deliveries, drafts, exports, history, later, whoami
from approvals.domain.errors import InvalidPayload, NotFound, Refusal, Unauthenticated, Unavailable

log = logging.getLogger(__name__)

DESCRIPTION = """
Propose outgoing actions, have them reviewed, learn what became of them. Every answer that is no success is a problem
document (RFC 9457) with a stable code; every 409 carries what is current. POST calls that create or decide take an
Idempotency-Key. `links` of a draft lead to what its state allows now; who may is said by the answer. Times are UTC.
"""

api = Contract(
    title="Review Room",
    version="1",
    description=DESCRIPTION.strip(),
    docs_url=None,
    openapi_url="/openapi.json",
    urls_namespace="api",
    auth=caller.Bearer(),
    parser=reading.StrictParser(),
)
for calls in (whoami, channels, drafts, deliveries, history, exports, approvals, later):
    api.add_router("", calls.router)


@api.exception_handler(Exception)
def unforeseen(request: HttpRequest, error: Exception) -> NoReturn:
    """Lets everything else through to the envelope, also while debugging."""
    raise error


@api.exception_handler(Refusal)
def refused(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    return problems.of_refusal(request, refusal)


@api.exception_handler(Unauthenticated)
def unauthenticated(request: HttpRequest, refusal: Unauthenticated) -> HttpResponse:
    caller.record_stranger(request, refusal)
    return problems.of_refusal(request, refusal)


@api.exception_handler(AuthenticationError)
def without_token(request: HttpRequest, _: AuthenticationError) -> HttpResponse:
    return unauthenticated(request, Unauthenticated("Send a bearer token in the Authorization header."))


@api.exception_handler(HttpError)
def unreadable(request: HttpRequest, error: HttpError) -> HttpResponse:
    """Answers a body the parser refused: ninja wraps whatever the parser raises."""
    cause = error.__cause__
    return problems.of_refusal(request, cause if isinstance(cause, Refusal) else InvalidPayload(str(error)))


@api.exception_handler(ValidationError)
def malformed(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Answers a request of the wrong shape; the first fault is told at the top, all of them in `errors`."""
    if error.errors[0]["loc"][0] == "path":
        return problems.of_refusal(request, NotFound())
    faults = reading.faults(error)
    first = faults[0]
    refusal = InvalidPayload(first["detail"], pointer=first.get("pointer"))
    parameter = {"parameter": first["parameter"]} if "parameter" in first else {}
    return problems.of_refusal(request, refusal, errors=faults, **parameter)


@api.exception_handler(OperationalError)
def database_away(request: HttpRequest, error: OperationalError) -> HttpResponse:
    log.error("%s", error, exc_info=error, extra={"correlation_id": caller.correlation_id(request)})
    return problems.of_refusal(request, Unavailable("The database does not answer now. Try again in a moment."))
