"""Deliveries, attempts and observations."""

from django.contrib import admin

from approvals.admin.viewing import ViewAdmin
from approvals.models import Attempt, Delivery, Observation


@admin.register(Delivery)
class DeliveryAdmin(ViewAdmin):
    """What went out or is about to, and what took it back."""

    list_display = ("id", "draft", "kind", "state", "remote_id", "verification", "held_at", "created_at")
    list_filter = ("kind", "state", "verification", ("held_at", admin.EmptyFieldListFilter))
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
    """What look-ups, read-backs, late receipts and people said."""

    list_display = ("id", "delivery", "kind", "answer", "begun_at", "recorded_at")
    list_filter = ("kind", "answer")
    search_fields = ("=delivery__id", "=delivery__draft__id")
    ordering = ("-id",)
