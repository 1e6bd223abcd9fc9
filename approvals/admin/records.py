"""The record: audit chains and events, Idempotency-Keys, the installation."""

from django.contrib import admin

from approvals.admin.viewing import ViewAdmin
from approvals.models import AuditChain, AuditEvent, IdempotencyKey, Installation


@admin.register(AuditChain)
class AuditChainAdmin(ViewAdmin):
    """The heads; `verify_audit` checks what hangs on them."""

    list_display = ("key", "seq", "head")
    search_fields = ("=key",)
    ordering = ("-id",)


@admin.register(AuditEvent)
class AuditEventAdmin(ViewAdmin):
    """The local history."""

    list_display = ("id", "at", "actor", "action", "outcome", "draft", "chain", "seq")
    list_filter = ("outcome",)
    list_select_related = ("chain", "draft")
    search_fields = ("=draft__id", "actor", "action")
    ordering = ("-id",)


@admin.register(IdempotencyKey)
class IdempotencyKeyAdmin(ViewAdmin):
    """First uses of Idempotency-Keys, kept for a day."""

    list_display = ("id", "user", "key", "status", "subject", "created_at")
    search_fields = ("=key", "user__username")
    ordering = ("-id",)


@admin.register(Installation)
class InstallationAdmin(ViewAdmin):
    """Which installation this database belongs to."""

    list_display = ("instance_id", "adopted_at", "walls_digest")
