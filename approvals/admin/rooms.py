"""Rooms and memberships: their saves are those of `apply_config`."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from approvals.admin.doors import DoorAdmin, DoorForm, JsonField, actor_of
from approvals.models import Membership, Room
from approvals.services import configure
from approvals.services.door import database_now

ROOM = "/rooms/0"


class RoomForm(DoorForm):
    """A room's name and policy."""

    policy = JsonField(
        required=False,
        help_text='Rules that differ from the defaults, as JSON: {"required_approvals": 2, "review_ttl": "7d"}',
    )

    class Meta:
        model = Room
        fields = ("slug", "name", "policy")


@admin.register(Room)
class RoomAdmin(DoorAdmin):
    """Rooms. A stricter policy sends what waits back to review."""

    form = RoomForm
    list_display = ("slug", "name", "policy", "paused_at")
    search_fields = ("slug", "name")
    ordering = ("slug",)
    why_kept = "Rooms are never deleted. Retire their channels and take away the members' roles instead."

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return ["slug", "name", "policy", *(["policy_changed_at", "paused_at", "paused_reason"] if obj else [])]

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return ["slug", "policy_changed_at", "paused_at", "paused_reason"] if obj else []

    def save_model(self, request: HttpRequest, obj: Room, form: Any, change: bool) -> None:
        values = {"name": form.cleaned_data["name"], "policy": form.cleaned_data["policy"] or {}}
        request.own_place = ROOM  # type: ignore[attr-defined]
        configure.change_room(
            actor=actor_of(request), clock=database_now, slug=obj.slug, change=lambda room: room.update(values)
        )
        obj.pk = Room.objects.get(slug=obj.slug).pk


class WordsField(forms.CharField):
    """A list of words, written with commas."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]
        return [word.strip() for word in (super().to_python(value) or "").split(",") if word.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return list(initial or []) != self.to_python(data)


class MembershipForm(DoorForm):
    """What one user may do in one room."""

    roles = forms.MultipleChoiceField(
        choices=[(role, role.capitalize()) for role in Membership.ROLES],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text="Without a role the room does not exist for them.",
    )
    groups = WordsField(required=False, help_text="With commas; a policy may require approvals from a group.")

    class Meta:
        model = Membership
        fields = ("room", "user")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.instance.pk:
            self.initial["roles"], self.initial["groups"] = list(self.instance.roles), self.instance.groups


@admin.register(Membership)
class MembershipAdmin(DoorAdmin):
    """Who is in a room."""

    form = MembershipForm
    list_display = ("user", "room", "roles", "groups")
    list_filter = ("room",)
    search_fields = ("user__username", "room__slug")
    ordering = ("room__slug", "user__username")
    why_kept = "Memberships are never deleted. Take away the roles instead."

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return ["room", "user", "roles", "groups"]

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return ["room", "user"] if obj else []

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        member = {
            "user": obj.user.username,
            "roles": list(form.cleaned_data["roles"]),
            "groups": form.cleaned_data["groups"],
        }

        def put(room: dict[str, Any]) -> None:
            others = [row for row in room.get("members", []) if row["user"] != member["user"]]
            room["members"] = [member, *others]

        request.own_place = f"{ROOM}/members/0"  # type: ignore[attr-defined]
        configure.change_room(actor=actor_of(request), clock=database_now, slug=obj.room.slug, change=put)
        obj.pk = Membership.objects.get(room=obj.room, user=obj.user).pk
