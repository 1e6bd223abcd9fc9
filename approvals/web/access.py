"""Who asks: log-in, the actor of a request, and pages that no cache keeps."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.utils.cache import add_never_cache_headers, patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.http import HttpResponseClientRedirect

from approvals.domain.actor import Actor
from approvals.models import User
from approvals.web import kept

View = Callable[..., HttpResponse]


def private(view: View) -> View:
    """Lets only people who are logged in through; nothing that the view answers is stored by browser or proxy."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated:
            response = view(request, *args, **kwargs)
        else:
            kept.keep_posted(request)
            response = to_login(request)
        return uncached(response)

    return guarded


def uncached(response: HttpResponse) -> HttpResponse:
    add_never_cache_headers(response)
    patch_vary_headers(response, ["Cookie", "HX-Request"])
    return response


def to_login(request: HttpRequest) -> HttpResponse:
    """Leads to the log-in and back to the page, not to the fragment or verb that was asked for."""
    url = f"{resolve_url(settings.LOGIN_URL)}?{urlencode({'next': page_of(request)})}"
    return HttpResponseClientRedirect(url) if is_htmx(request) else HttpResponseRedirect(url)


def page_of(request: HttpRequest) -> str:
    """Gives the local address of the page a request came from; of the request itself where it only reads."""
    if is_htmx(request):
        return local(request, request.htmx.current_url_abs_path)
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    return local(request, kept.page_behind(request.path))


def local(request: HttpRequest, url: str | None) -> str:
    """Gives the address if it stays on this site, else the inbox."""
    safe = url and url_has_allowed_host_and_scheme(url, allowed_hosts={request.get_host()}, require_https=False)
    return url if url and safe else resolve_url("inbox")


def is_htmx(request: HttpRequest) -> bool:
    """True for htmx. A request that failed before the middleware was reached counts as none."""
    return bool(getattr(request, "htmx", False))


def actor_of(request: HttpRequest) -> Actor:
    """Gives who acts by this request; made anew each time, so that nobody's leftover acts for another."""
    user = request.user
    assert isinstance(user, User)
    return Actor(kind=user.kind, name=user.username, via="web", user_id=user.pk, address=address_of(request))


def address_of(request: HttpRequest) -> str:
    """Gives the peer's address. Forwarded headers are not read: anybody can write them."""
    return request.META.get("REMOTE_ADDR", "")
