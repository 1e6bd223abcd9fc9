"""Addresses of the API: every one of them, unknown ones too, goes through the envelope."""

from django.urls import URLPattern, URLResolver, path

from approvals.api.app import api
from approvals.api.envelope import enveloped, unknown
from approvals.api.views.docs import docs
from approvals.api.views.keys import jwks


def _enveloped(pattern: URLPattern) -> URLPattern:
    pattern.callback = enveloped(pattern.callback)
    return pattern


# Not named `app_name`: Django would take that for the namespace of this whole module.
_calls, _application, _namespace = api.urls

urlpatterns: list[URLPattern | URLResolver] = [
    path("v1/docs", docs, name="api-docs"),
    path("v1/", ([_enveloped(call) for call in _calls if isinstance(call, URLPattern)], _application, _namespace)),
    path("v1", enveloped(unknown)),
    path("v1/<path:rest>", enveloped(unknown)),
    path(".well-known/jwks.json", enveloped(jwks), name="jwks"),
]
