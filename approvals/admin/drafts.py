"""Drafts, revisions and exclusions."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from approvals.admin.doors import actor_of, ask_reason
from approvals.admin.viewing import ViewAdmin
from approvals.models import Draft, Exclusion, Revision
from approvals.services import cancel, retract, revoke
from approvals.services.door import database_now


@admin.register(Draft)
class DraftAdmin(ViewAdmin):
    """Drafts as they stand. Deciding is done on the review page, on the exact bytes; never here.

    Taking back goes by the roles in the room: a superuser who has none may only withdraw.
    """

    list_display = ("reference", "title", "room", "channel", "state", "author", "updated_at")
    list_filter = ("state", "room", "channel")
    search_fields = ("=id", "title")
    ordering = ("-id",)
    actions = ("withdraw", "cancel", "retract")

    @admin.action(description="Withdraw draft")
    def withdraw(self, request: HttpRequest, queryset: QuerySet[Draft]) -> HttpResponse | None:
        actor = actor_of(request)

        def verb(draft: Draft, reason: str) -> Draft:
            return revoke.withdraw(actor=actor, clock=database_now, draft_id=draft.pk, reason=reason)

        return ask_reason(self, request, queryset, title="Withdraw draft", verb=verb)

    @admin.action(description="Cancel waiting delivery")
    def cancel(self, request: HttpRequest, queryset: QuerySet[Draft]) -> HttpResponse | None:
        actor = actor_of(request)

        def verb(draft: Draft, reason: str) -> Draft:
            return cancel.cancel(actor=actor, clock=database_now, draft_id=draft.pk, reason=reason)

        return ask_reason(self, request, queryset, title="Cancel waiting delivery", verb=verb)

    @admin.action(description="Retract what was published")
    def retract(self, request: HttpRequest, queryset: QuerySet[Draft]) -> HttpResponse | None:
        actor = actor_of(request)

        def verb(draft: Draft, reason: str) -> Draft:
            return retract.retract(actor=actor, clock=database_now, draft_id=draft.pk, reason=reason)

        return ask_reason(self, request, queryset, title="Retract what was published", verb=verb)


@admin.register(Revision)
class RevisionAdmin(ViewAdmin):
    """The immutable bytes."""

    list_display = ("__str__", "operation", "target", "digest", "author", "created_at")
    search_fields = ("=draft__id", "digest")
    ordering = ("-id",)
    hidden_columns = ("canonical",)
    extra_columns = ("canonical_text",)

    @admin.display(description="Canonical bytes")
    def canonical_text(self, revision: Revision) -> str:
        return bytes(revision.canonical).decode(errors="backslashreplace")


@admin.register(Exclusion)
class ExclusionAdmin(ViewAdmin):
    """Who may never decide on a draft."""

    list_display = ("draft", "user")
    search_fields = ("=draft__id", "user__username")
    ordering = ("-id",)
