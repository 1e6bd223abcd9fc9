"""Which address leads where: the API under /v1, everything else to the pages."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("approvals.api.urls")),
    path("", include("approvals.web.urls")),
]
