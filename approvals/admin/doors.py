"""From the admin site to the services: who acts, saves outside of Django admin's transaction, reasons asked for."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_protect

from approvals.admin.viewing import ViewAdmin
from approvals.domain import pointer as pointers
from approvals.domain.actor import Actor
from approvals.domain.errors import Refusal
from approvals.domain.strict_json import parse_json

MOST_AT_ONCE = 100


def actor_of(request: HttpRequest) -> Actor:
    """Gives whoever is logged in, acting through the admin site."""
    user: Any = request.user
    address = request.META.get("REMOTE_ADDR", "")
    return Actor(kind=user.kind, name=user.username, via="admin", user_id=user.pk, address=address)


class JsonField(forms.JSONField):
    """JSON as strict as that of the API: twice the same key, NaN and their like are refused with their place."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": 8, "cols": 100}), **options)

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and value.strip() and not self.disabled:
            try:
                parse_json(value)
            except Refusal as refusal:
                place = f" (line {refusal.line}, column {refusal.column})" if refusal.line else ""
                raise forms.ValidationError(f"{refusal}{place}", code="invalid") from refusal
        return super().to_python(value)


class DoorForm(forms.ModelForm):
    """A form whose save is a service: a refusal of it appears at the field it is about, the text kept."""

    refusal: Refusal | None = None
    own_place = ""  # the pointer of what this form is about, within what was refused

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.refusal is not None:
            field, within = self._place(self.refusal.pointer or "")
            self.add_error(field, f"{within}: {self.refusal}" if within else str(self.refusal))
        return cleaned

    def _place(self, pointer: str) -> tuple[str | None, str]:
        """Gives the field a refusal is about and the key within it; no field where it is about something else."""
        if not pointer.startswith(self.own_place):
            return None, pointer
        steps = pointers.parse(pointer.removeprefix(self.own_place))
        field = next((step for step in steps if step in self.fields), None)
        return field, ".".join(steps[steps.index(field) + 1 :] if field else steps)


class DoorAdmin(ViewAdmin):
    """Rows that superusers change, through a service named by the subclass in `save_model`."""

    form = DoorForm

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_add_permission(request)

    def get_form(self, request: HttpRequest, obj: Model | None = None, change: bool = False, **options: Any) -> Any:
        """Gives the form class of this request alone; on the way back from a refusal it carries the refusal."""
        form: Any = super().get_form(request, obj, change=change, **options)
        form.refusal, form.own_place = getattr(request, "refused", (None, ""))
        return form

    @method_decorator(csrf_protect)
    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Runs outside of the transaction that Django would open: services open, and roll back, their own."""
        try:
            return self._changeform_view(request, object_id, form_url, extra_context)
        except Refusal as refusal:
            request.refused = (refusal, getattr(request, "own_place", ""))  # type: ignore[attr-defined]
            return self._changeform_view(request, object_id, form_url, extra_context)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Saves nothing: the service has saved everything."""


class ReasonForm(forms.Form):
    """Why somebody takes authority away."""

    reason = forms.CharField(widget=forms.Textarea(attrs={"rows": 3, "cols": 80}), strip=False, required=False)


def ask_reason(
    model_admin: admin.ModelAdmin, request: HttpRequest, rows: QuerySet, *, title: str, verb: Callable[[Any, str], Any]
) -> HttpResponse | None:
    """Asks for one reason and calls `verb` with it for each selected row; each is a transaction of its own."""
    chosen = list(rows.order_by("pk")[: MOST_AT_ONCE + 1])
    if len(chosen) > MOST_AT_ONCE:
        model_admin.message_user(request, f"Choose at most {MOST_AT_ONCE} at once.", messages.ERROR)
        return None
    form = ReasonForm(request.POST if "reason" in request.POST else None)
    if not form.is_valid():
        return _reason_page(model_admin, request, chosen, form, title)
    for row, refusal in _each(chosen, lambda row: verb(row, form.cleaned_data["reason"])):
        if refusal is not None and refusal.pointer == "/reason":
            form.add_error("reason", str(refusal))
            return _reason_page(model_admin, request, chosen, form, title)
        told = f"{row}: {refusal}" if refusal else f"{row}: done."
        model_admin.message_user(request, told, messages.ERROR if refusal else messages.SUCCESS)
    return None


def _each(rows: Sequence[Any], verb: Callable[[Any], Any]) -> Iterator[tuple[Any, Refusal | None]]:
    for row in rows:
        try:
            verb(row)
        except Refusal as refusal:
            yield row, refusal
        else:
            yield row, None


def _reason_page(
    model_admin: admin.ModelAdmin, request: HttpRequest, rows: Sequence[Any], form: ReasonForm, title: str
) -> HttpResponse:
    context = {
        **model_admin.admin_site.each_context(request),
        "title": title,
        "opts": model_admin.opts,
        "rows": rows,
        "form": form,
        "action": request.POST.get("action", ""),
        "checkbox": ACTION_CHECKBOX_NAME,
    }
    return TemplateResponse(request, "admin/approvals/reason.html", context)
