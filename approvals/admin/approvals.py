"""Approvals and decisions."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from approvals.admin.doors import actor_of, ask_reason
from approvals.admin.viewing import ViewAdmin
from approvals.models import Approval, Decision, Draft
from approvals.services import revoke
from approvals.services.door import database_now


@admin.register(Approval)
class ApprovalAdmin(ViewAdmin):
    """Authority can be taken away here, never given."""

    list_display = ("id", "draft", "state", "version", "required_approvals", "expires_at", "dispatch_at")
    list_filter = ("state",)
    search_fields = ("=id", "=draft__id", "digest")
    ordering = ("-opened_at",)
    actions = ("revoke",)

    @admin.action(description="Revoke approval")
    def revoke(self, request: HttpRequest, queryset: QuerySet[Approval]) -> HttpResponse | None:
        actor = actor_of(request)

        def verb(approval: Approval, reason: str) -> Draft:
            return revoke.revoke(actor=actor, clock=database_now, approval_id=approval.pk, reason=reason)

        return ask_reason(self, request, queryset.select_related("draft"), title="Revoke approval", verb=verb)


@admin.register(Decision)
class DecisionAdmin(ViewAdmin):
    """What reviewers said; a decision is changed by a further one, on the review page."""

    list_display = ("id", "approval", "reviewer", "verdict", "version", "decided_at")
    list_filter = ("verdict",)
    list_select_related = ("approval__draft", "reviewer")
    search_fields = ("=approval__id", "=approval__draft__id", "reviewer__username")
    ordering = ("-id",)
