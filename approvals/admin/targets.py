"""Targets and their dispatch claims."""

from django.contrib import admin

from approvals.admin.viewing import ViewAdmin
from approvals.models import DispatchClaim, Target


@admin.register(Target)
class TargetAdmin(ViewAdmin):
    """Where bytes go."""

    list_display = ("id", "connector", "account", "resource", "version")
    list_filter = ("connector",)
    search_fields = ("account", "resource")
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
