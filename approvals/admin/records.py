"""The record: audit chains and events, heartbeats, Idempotency-Keys, the installation."""

from django.contrib import admin

from approvals.admin.viewing import ViewAdmin
from approvals.models import AuditChain, AuditEvent, ChainCheckpoint, Heartbeat, IdempotencyKey, Installation


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


@admin.register(Heartbeat)
class HeartbeatAdmin(ViewAdmin):
    """What the sink was told on the cadence; a gap between slots is a time when nobody worked."""

    list_display = ("number", "slot_at", "part", "has_more", "created_at", "event_id", "digest")
    search_fields = ("=number",)
    ordering = ("-number",)


@admin.register(ChainCheckpoint)
class ChainCheckpointAdmin(ViewAdmin):
    """How far the sink knows each chain."""

    list_display = ("chain", "seq", "head", "heartbeat")
    list_select_related = ("chain", "heartbeat")
    search_fields = ("=chain__key",)
    ordering = ("-chain_id",)


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
