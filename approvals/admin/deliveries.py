"""Deliveries, attempts and observations."""

from django.contrib import admin

from approvals.admin.viewing import ViewAdmin
from approvals.models import Attempt, Delivery, Observation


@admin.register(Delivery)
class DeliveryAdmin(ViewAdmin):
    """What went out, or is about to."""

    list_display = ("id", "draft", "kind", "state", "remote_id", "verification", "attempt_count", "created_at")
    list_filter = ("kind", "state", "verification")
    search_fields = ("=id", "=draft__id", "=remote_id")
    ordering = ("-created_at",)


@admin.register(Attempt)
class AttemptAdmin(ViewAdmin):
    """Every try, with the remote's answer as evidence."""

    list_display = ("id", "delivery", "number", "outcome", "owner", "started_at", "finished_at")
    list_filter = ("outcome",)
    search_fields = ("=delivery__id", "=delivery__draft__id")
    ordering = ("-id",)
    hidden_columns = ("prepared",)  # holds links that still write something


@admin.register(Observation)
class ObservationAdmin(ViewAdmin):
    """What look-ups, read-backs and late receipts said."""

    list_display = ("id", "delivery", "kind", "answer", "begun_at", "recorded_at")
    list_filter = ("kind", "answer")
    search_fields = ("=delivery__id", "=delivery__draft__id")
    ordering = ("-id",)
