"""Rows that can be looked at, and neither added nor changed nor deleted, whoever asks."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

COUNTED_AT_MOST = 10_000


class CappedPaginator(Paginator):
    """Counts no further than somebody would turn pages; a whole table takes seconds to count."""

    @property
    def count(self) -> int:  # type: ignore[override]
        rows = self.object_list
        return rows[:COUNTED_AT_MOST].count() if isinstance(rows, QuerySet) else len(rows)


class ViewAdmin(admin.ModelAdmin):
    """Shows every column. A crafted POST to add or change is 403; one to delete is told why it is refused."""

    paginator = CappedPaginator
    show_full_result_count = False
    list_per_page = 50
    list_select_related = True
    extra_columns: ClassVar[tuple[str, ...]] = ()  # methods shown beside the columns of the table
    hidden_columns: ClassVar[tuple[str, ...]] = ()
    why_kept = "History is kept: nothing here is ever deleted."

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        columns = [field.name for field in self.opts.concrete_fields if field.name not in self.hidden_columns]
        return [*columns, *self.extra_columns]

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return self.get_fields(request, obj)

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Says why not, and goes back to the row."""
        row = self.get_object(request, object_id)
        if not self.has_view_or_change_permission(request, row):
            raise PermissionDenied
        messages.error(request, self.refusal_to_delete(row))
        place = f"admin:{self.opts.app_label}_{self.opts.model_name}"
        return redirect(f"{place}_change", object_id) if row else redirect(f"{place}_changelist")

    def refusal_to_delete(self, row: Model | None) -> str:
        return self.why_kept
