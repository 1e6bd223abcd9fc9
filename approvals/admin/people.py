"""Users and their tokens."""

import copy
from collections.abc import Iterator
from functools import partial
from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm, UserChangeForm
from django.db.models import Model
from django.http import HttpRequest, HttpResponse

from approvals.admin.doors import DoorAdmin, DoorForm, actor_of
from approvals.admin.viewing import ViewAdmin
from approvals.domain.actor import Actor
from approvals.models import ApiToken, User
from approvals.services import people
from approvals.services.door import database_now
from approvals.services.people import Person


class UserForm(DoorForm, UserChangeForm):
    """Django's form for a user, with refusals at their field."""


class PasswordForm(AdminPasswordChangeForm):
    """Django's form for somebody's password, saved by the service."""

    def __init__(self, user: User, *args: Any, actor: Actor, **options: Any) -> None:
        super().__init__(user, *args, **options)
        self._actor = actor

    def save(self, commit: bool = True) -> User:
        encoded = super().save(commit=False).password
        people.set_password(actor=self._actor, clock=database_now, user_id=self.user.pk, encoded=encoded)
        return self.user


@admin.register(User)
class UserAdmin(DoorAdmin, DjangoUserAdmin):
    """Names, e-mail, password and whether somebody may come in. Who exists is configuration: `apply_config`."""

    form = UserForm
    list_display = ("username", "kind", "email", "is_active", "is_superuser", "last_login")
    list_filter = ("kind", "is_active", "is_superuser")
    search_fields = ("username", "email", "first_name", "last_name")
    ordering = ("username",)
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email", "is_active")}),
        ("Configured by apply_config", {"fields": ("kind", "agents_persons")}),
        ("Set by createsuperuser", {"fields": ("is_staff", "is_superuser")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    readonly = ("username", "kind", "agents_persons", "is_staff", "is_superuser", "last_login", "date_joined")
    why_kept = "Users are never deleted."

    @admin.display(description="Acts for")
    def agents_persons(self, user: User) -> str:
        return ", ".join(person.username for person in user.acts_for.order_by("username")) or "-"

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self.fieldsets

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return self.readonly

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_add_permission(request)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        values = {name: form.cleaned_data[name] for name in Person.__slots__}
        people.change(actor=actor_of(request), clock=database_now, user_id=obj.pk, person=Person(**values))

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:  # noqa: A002
        """Django's own view, on a copy whose form knows who asks."""
        mine = copy.copy(self)
        mine.change_password_form = partial(PasswordForm, actor=actor_of(request))
        return DjangoUserAdmin.user_change_password(mine, request, id, form_url)

    def refusal_to_delete(self, row: Model | None) -> str:
        if not isinstance(row, User):
            return self.why_kept
        named = ", ".join(_history(row))
        held = f"{row} is named by {named}, which stay." if named else f"{row} would leave no trace."
        return f"{self.why_kept} {held} To keep somebody out, take away “Active” instead."


def _history(user: User) -> Iterator[str]:
    """Says what refers to a user: `3 drafts`."""
    for relation in User._meta.related_objects:
        name = relation.get_accessor_name()
        if relation.one_to_many and not relation.hidden and name and (number := getattr(user, name).count()):
            told = relation.related_model._meta
            yield f"{number} {told.verbose_name if number == 1 else told.verbose_name_plural}"


@admin.register(ApiToken)
class ApiTokenAdmin(ViewAdmin):
    """Tokens are made by `create_token` and shown once."""

    list_display = ("id", "user", "scopes", "acts_for", "created_at", "revoked_at")
    list_select_related = ("user", "acts_for")
    search_fields = ("user__username",)
    ordering = ("-id",)
    hidden_columns = ("digest",)
