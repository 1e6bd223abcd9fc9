"""From data to an answer: whole pages with their frame, fragments for htmx, refusals with their status."""

import json
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from approvals.domain.errors import Refusal
from approvals.models import User
from approvals.models.clock import database_now
from approvals.selectors import queue as reads
from approvals.web.access import is_htmx
from approvals.web.pages import frame
from approvals.web.pages.frame import Nav, Notice

HTMX_CONFIG = json.dumps(
    {
        "includeIndicatorStyles": False,
        "allowEval": False,
        "historyCacheSize": 0,
        "historyEnabled": False,
        "reportValidityOfForms": True,
        "defaultSettleDelay": 0,
        "attributesToSettle": ["class"],
        "timeout": 30_000,
        "responseHandling": [
            {"code": "204", "swap": False},
            {"code": "[23]..", "swap": True},
            {"code": "4..", "swap": True, "error": True},
            {"code": "...", "swap": False, "error": True},
        ],
    }
)
"""No inline styles, no eval, no draft text in the browser's storage; conflicts are shown, server faults never are."""

STATUS = {
    "not_found": HTTPStatus.NOT_FOUND,
    "not_eligible": HTTPStatus.FORBIDDEN,
    "forbidden": HTTPStatus.FORBIDDEN,
    "unauthenticated": HTTPStatus.UNAUTHORIZED,
    "invalid_payload": HTTPStatus.UNPROCESSABLE_ENTITY,
    "idempotency_mismatch": HTTPStatus.UNPROCESSABLE_ENTITY,
    "too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "precondition_required": HTTPStatus.PRECONDITION_REQUIRED,
    "rate_limited": HTTPStatus.TOO_MANY_REQUESTS,
    "unavailable": HTTPStatus.SERVICE_UNAVAILABLE,
}
"""Every other code is a conflict."""


def status_of(refusal: Refusal) -> int:
    return STATUS.get(refusal.code, HTTPStatus.CONFLICT)


def page(
    request: HttpRequest, template: str, context: dict[str, Any], *, current: str = "", status: int = 200
) -> HttpResponse:
    """Gives a whole page with nav and counts for whoever is logged in."""
    context = {**context, "nav": _nav(request, current), "htmx_config": HTMX_CONFIG}
    return render(request, template, context, status=status)


def _nav(request: HttpRequest, current: str) -> Nav:
    user = request.user
    assert isinstance(user, User)
    return frame.nav(user, reads.memberships(user), database_now(), current=current)


def item(request: HttpRequest, name: str, context: dict[str, Any], *, current: str, status: int = 200) -> HttpResponse:
    """Gives an item's page, or for htmx its fragment, which takes the item's place, and the counts of the nav."""
    if not is_htmx(request):
        return page(request, f"{name}.html", context, current=current, status=status)
    html = render_to_string(f"_{name}.html", {**context, "is_fragment": True}, request)
    html += render_to_string("_counts.html", {"nav": _nav(request, current)})
    return placed(HttpResponse(html, status=status), "#item", "outerHTML show:top")


def notice(request: HttpRequest, told: Notice, *, status: int) -> HttpResponse:
    """Gives htmx a message at the top of the page; what people typed stays where it is."""
    values = {"tone": told.tone, "icon": told.icon, "title": told.title, "text": told.text, "alert": True}
    html = render_to_string("components/notice.html", values, request)
    return placed(HttpResponse(html, status=status), "#notices", "innerHTML show:top")


def placed(response: HttpResponse, target: str, how: str) -> HttpResponse:
    """Tells htmx where an answer goes; also the sign by which the page knows that an error answer is ours."""
    response["HX-Retarget"] = target
    response["HX-Reswap"] = how
    return response
