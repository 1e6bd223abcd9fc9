"""The outbox: what the audit sink has been told or is still to be told, how it stands now, and the sink itself."""

from datetime import timedelta
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from approvals.admin.viewing import COUNTED_AT_MOST, ViewAdmin
from approvals.models import OutboxEvent, SinkState
from approvals.models.clock import database_now
from approvals.selectors import outbox


class StandingFilter(admin.SimpleListFilter):
    """Where an event stands on its way to the sink."""

    title = "standing"
    parameter_name = "standing"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [(name, name.capitalize()) for name in ("undrained", "parked", "held", "postponed", "drained")]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        wanted = {
            "undrained": outbox.undrained,
            "parked": outbox.parked,
            "held": outbox.held,
            "postponed": lambda: outbox.waiting_for(database_now()).filter(parked_at=None),
            "drained": lambda: OutboxEvent.objects.filter(drained_at__isnull=False),
        }.get(self.value() or "")
        return queryset if wanted is None else queryset.filter(pk__in=wanted().values("pk"))


@admin.register(OutboxEvent)
class OutboxEventAdmin(ViewAdmin):
    """One line an event, with why it waits and when it is tried again; above the list, how the outbox stands."""

    list_display = (
        *("id", "event_class", "approval", "created_at", "standing", "attempts", "next_attempt_at", "last_error"),
        "drained_at",
    )
    list_filter = (StandingFilter, "event_class")
    list_select_related = ("approval__draft",)
    search_fields = ("=event_id", "=approval__id")
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).annotate(is_held=outbox.is_held())

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if request.method == "GET":
            messages.info(request, summary())
        return super().changelist_view(request, extra_context)

    @admin.display(description="standing")
    def standing(self, event: Any) -> str:
        if event.drained_at is not None:
            return "drained"
        if event.parked_at is not None:
            return "parked"
        return "held" if event.is_held else "waiting"


@admin.register(SinkState)
class SinkStateAdmin(ViewAdmin):
    """Whether the sink takes anything from us; empty until there is something to say."""

    list_display = ("__str__", "closed_at", "closed_reason", "probe_at", "drained_by", "drained_until")


def summary() -> str:
    """Gives how the outbox stands, in one sentence."""
    count = _capped(outbox.undrained())
    if count == "0":
        return "The audit sink has everything."
    lag = timedelta(seconds=int(outbox.lag(database_now()).total_seconds()))
    held, endings = _capped(outbox.held()), outbox.held_endings()
    told = f"{count} waiting, the oldest for {lag}; {_capped(outbox.parked())} parked, {held} held behind them"
    told += f", {endings} of those a revocation or supersession" if endings else ""
    return f"{told}.{_closed()}"


def _closed() -> str:
    state = outbox.sink_state()
    if state.closed_at is None:
        return ""
    return f" The sink takes nothing since {state.closed_at:%Y-%m-%d %H:%M} UTC: {state.closed_reason}"


def _capped(rows: QuerySet) -> str:
    number = rows[: COUNTED_AT_MOST + 1].count()
    return f"more than {COUNTED_AT_MOST:,}" if number > COUNTED_AT_MOST else str(number)
