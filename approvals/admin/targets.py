"""Targets, what was read there, and their dispatch claims."""

from django.contrib import admin

from approvals.admin.viewing import ViewAdmin
from approvals.models import DispatchClaim, Target, TargetReading


@admin.register(Target)
class TargetAdmin(ViewAdmin):
    """Where bytes go."""

    list_display = ("id", "connector", "account", "resource", "version")
    list_filter = ("connector",)
    search_fields = ("account", "resource")
    ordering = ("-id",)


@admin.register(TargetReading)
class TargetReadingAdmin(ViewAdmin):
    """What exclusive targets held when they were last read, for reviewers to compare with."""

    list_display = ("target", "known", "version", "read_at", "next_read_at", "failure_count")
    list_filter = ("known",)
    list_select_related = ("target",)
    search_fields = ("target__account", "target__resource")
    ordering = ("-id",)


@admin.register(DispatchClaim)
class DispatchClaimAdmin(ViewAdmin):
    """Who may write to a target now."""

    list_display = ("target", "state", "epoch", "owner", "lease_until")
    list_filter = ("state",)
    search_fields = ("target__account", "target__resource", "=delivery_id")
    list_select_related = ("target",)
    ordering = ("-changed_at",)
    hidden_columns = ("token",)  # whoever knows it acts as the holder
