"""Channels and their configurations: every save adds an immutable, numbered configuration if anything differs."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from approvals.admin.doors import DoorAdmin, DoorForm, JsonField, actor_of
from approvals.admin.rooms import ROOM
from approvals.admin.viewing import ViewAdmin
from approvals.connectors import registry
from approvals.models import Channel, ChannelConfig
from approvals.services import configure
from approvals.services.channel_names import check_names
from approvals.services.channels import CONFIG_FIELDS, FIXED_FIELDS
from approvals.services.config_schema import read
from approvals.services.door import database_now

PLACE = f"{ROOM}/channels/0"
CHANGEABLE = ("name", "in_use", "policy", *CONFIG_FIELDS)


class ChannelForm(DoorForm):
    """A channel with its newest configuration."""

    connector = forms.ChoiceField(choices=lambda: [(name, name) for name in registry.names()])
    in_use = forms.BooleanField(
        required=False,
        initial=True,
        help_text="Taken away, the channel is retired and its live approvals revoked. What is in flight is settled.",
    )
    policy = JsonField(required=False, help_text="Rules that differ from the room's, as JSON.")
    account = forms.CharField(max_length=200, help_text="One account stands for one host.")
    resource = forms.CharField(max_length=500, required=False, help_text="Where it writes; or else a pattern.")
    resource_pattern = forms.CharField(max_length=500, required=False, help_text="Each * is one segment.")
    idempotent = forms.BooleanField(required=False, help_text="The receiver dedupes on the delivery id.")
    secret = forms.CharField(
        max_length=64, required=False, help_text="Its name: TRACKER is read from REVIEWROOM_TARGET_SECRET_TRACKER."
    )
    config = JsonField(required=False, help_text="What the connector needs, as JSON.")
    operations = JsonField(help_text='By name, as JSON: {"ticket.create": {}}')

    class Meta:
        model = Channel
        fields = ("room", "slug", "name", "connector", "concurrency", "policy")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        channel = self.instance
        if channel.pk and channel.config is not None:
            self.initial |= {name: getattr(channel.config, name) for name in CONFIG_FIELDS}
            self.initial["in_use"] = channel.retired_at is None


@admin.register(Channel)
class ChannelAdmin(DoorAdmin):
    """Ways out of a room. Another configuration sends what waits back to review."""

    form = ChannelForm
    list_display = ("__str__", "name", "connector", "concurrency", "paused_at", "retired_at")
    list_filter = ("room", "connector")
    search_fields = ("slug", "name", "room__slug")
    ordering = ("room__slug", "slug")
    why_kept = "Channels are never deleted. Take away “In use” to retire one."

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        told = ["paused_at", "paused_reason", "retired_at"] if obj else []
        return ["room", "slug", *FIXED_FIELDS, *CHANGEABLE, *told]

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return ["room", "slug", *FIXED_FIELDS, "paused_at", "paused_reason", "retired_at"] if obj else []

    def get_form(self, request: HttpRequest, obj: Model | None = None, change: bool = False, **options: Any) -> Any:
        """Asks the table for its own columns only; the form declares those of the configuration itself."""
        return super().get_form(request, obj, change=change, **options | {"fields": self.form.Meta.fields})

    def save_model(self, request: HttpRequest, obj: Channel, form: Any, change: bool) -> None:
        channel = _wanted(obj, form.cleaned_data)
        in_use = form.cleaned_data["in_use"] or not change

        def put(room: dict[str, Any]) -> None:
            others = [row for row in room.get("channels", []) if row["slug"] != obj.slug]
            room["channels"] = [channel, *others] if in_use else others

        request.own_place = PLACE  # type: ignore[attr-defined]
        if in_use:
            check_names(read({"rooms": [{"slug": obj.room.slug, "channels": [channel]}]}))
        configure.change_room(actor=actor_of(request), clock=database_now, slug=obj.room.slug, change=put)
        obj.pk = Channel.objects.get(room=obj.room, slug=obj.slug).pk


def _wanted(channel: Channel, cleaned: dict[str, Any]) -> dict[str, Any]:
    """Gives the channel as the configuration file would say it."""
    fixed = {name: getattr(channel, name) for name in ("slug", *FIXED_FIELDS)}
    objects = {name: cleaned[name] or {} for name in ("policy", "config", "operations")}
    kept = {name: cleaned[name] for name in CHANGEABLE if name not in ("in_use", *objects)}
    return fixed | kept | objects


@admin.register(ChannelConfig)
class ChannelConfigAdmin(ViewAdmin):
    """Every configuration a channel ever had; the newest is changed on the channel's page."""

    list_display = ("channel", "number", "account", "resource", "resource_pattern", "secret", "created_at")
    list_filter = ("channel",)
    list_select_related = ("channel__room",)
    ordering = ("-id",)
