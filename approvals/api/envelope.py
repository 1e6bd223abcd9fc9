"""What surrounds every call: its id, its size, and answers that are problem documents whatever goes wrong."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed

from approvals.api import caller, problems
from approvals.domain.errors import NotFound, TooLarge
from approvals.domain.strict_json import MAX_RAW_BYTES

View = Callable[..., HttpResponse]
log = logging.getLogger(__name__)


def enveloped(view: View) -> View:
    """Gives the view with everything around it; HEAD is answered as GET, whose body the server leaves out."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        asked, request.method = request.method, "GET" if request.method == "HEAD" else request.method
        try:
            response = _answer(view, request, *args, **kwargs)
        finally:
            request.method = asked
        response["X-Request-Id"] = caller.correlation_id(request)
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    wrapped.csrf_exempt = True  # type: ignore[attr-defined]  # tokens, never cookies: nothing to forge
    return wrapped


def unknown(request: HttpRequest, **_: Any) -> HttpResponse:
    """Answers addresses that are no call."""
    return problems.of_refusal(request, NotFound("There is no such call. /v1/openapi.json lists them all."))


def _answer(view: View, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    if _length(request) > MAX_RAW_BYTES:
        return problems.of_refusal(request, TooLarge(f"The request may take {MAX_RAW_BYTES:,} bytes. Shorten it."))
    if "chunked" in request.headers.get("Transfer-Encoding", "") and not request.META.get("CONTENT_LENGTH"):
        return problems.document(411, "length_required", "Send the body in one piece, with its Content-Length.")
    try:
        response = view(request, *args, **kwargs)
    except Http404:
        return unknown(request)
    except Exception:
        log.exception("a call failed", extra={"correlation_id": caller.correlation_id(request), "path": request.path})
        detail = "Something went wrong here. The operators find it in the log under this answer's X-Request-Id."
        return problems.document(500, "internal_error", detail)
    return _not_allowed(response) if isinstance(response, HttpResponseNotAllowed) else response


def _length(request: HttpRequest) -> int:
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0


def _not_allowed(response: HttpResponse) -> HttpResponse:
    allowed = sorted(word.strip() for word in response["Allow"].split(","))
    if "GET" in allowed:
        allowed.append("HEAD")
    detail = f"This address answers {', '.join(allowed)}."
    return problems.document(405, "method_not_allowed", detail, headers={"Allow": ", ".join(allowed)})
