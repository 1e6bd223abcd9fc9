"""The whole URL space: the admin, then everything of the app."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/", admin.site.urls),
    path("", include("approvals.urls")),
]

handler400 = "approvals.web.views.faults.bad_request"
handler403 = "approvals.web.views.faults.forbidden"
handler404 = "approvals.web.views.faults.not_found"
handler500 = "approvals.web.views.faults.broken"
