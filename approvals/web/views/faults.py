"""Errors as pages, and for htmx as messages that leave the page and what was typed on it alone."""

from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from approvals.domain.errors import Forbidden, NotEligible, NotFound
from approvals.web import kept, respond
from approvals.web.access import View, is_htmx, page_of, uncached
from approvals.web.pages.frame import Notice


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Says that the page is older than the log-in, offers to load it again, and gives the typed text back."""
    if is_htmx(request):  # a header no other site can send: only then the text may go into this person's session
        kept.keep_posted(request)
        response = render(request, "_csrf_notice.html", {"back": page_of(request)}, status=403)
        return uncached(respond.placed(response, "#notices", "innerHTML show:top"))
    context = {"back": page_of(request), "kept": kept.all_typed(request)}
    return uncached(render(request, "csrf.html", context, status=403))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, "404.html", 404, "There is nothing here", "It is gone, or it is not yours to see.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    text = str(exception) if isinstance(exception, NotEligible | Forbidden) else ""
    return _answer(request, "403.html", 403, "Not yours to do", text or "Your role does not allow this.")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, "400.html", 400, "This request cannot be read", "Load the page again.")


def broken(request: HttpRequest) -> HttpResponse:
    """Leaves alone what is on the page: htmx shows nothing of a 500, the page's own script says it."""
    return render(request, "500.html", status=500)


def answers(view: View) -> View:
    """Turns what strangers and people without the role run into to 404 and 403."""

    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except NotFound as exc:
            raise Http404(str(exc)) from exc
        except (NotEligible, Forbidden) as exc:
            return uncached(forbidden(request, exc))

    return answered


def _answer(request: HttpRequest, template: str, status: int, title: str, text: str) -> HttpResponse:
    if is_htmx(request):
        return respond.notice(request, Notice("bad", "alert", title, text), status=status)
    return render(request, template, {"text": text}, status=status)
