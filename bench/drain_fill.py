"""Fills an outbox with as many events as a measurement wants, by statements that copy one real approval."""

from django.db import connection, transaction

from approvals.models import Approval, Draft, OutboxEvent, walls
from bench.drain_process import PAYLOAD

USUAL_PER_APPROVAL = 2  # it was given, it was used


def prepare() -> None:
    """Makes the tables and the one approval that all others are copies of."""
    from django.core.management import call_command

    from approvals.domain.actor import system
    from approvals.models.clock import database_now
    from approvals.services import configure
    from approvals.services.config_schema import read
    from bench import services

    call_command("migrate", verbosity=0)
    configure.apply(actor=system("apply_config", via="command"), clock=database_now, spec=read(services.CONFIG))
    services.propose(0)


def fill(count: int, *, drained: bool = False, per_approval: int = USUAL_PER_APPROVAL) -> None:
    """Adds so many events of fresh approvals, each approval's events one after the other."""
    walls.drop(connection)
    with transaction.atomic(), connection.cursor() as cursor:
        approvals = -(-count // per_approval)
        first_draft = _next_id(Draft)
        cursor.execute(_copy(Draft, approvals, {"id": f"n + {first_draft}", "approval_id": "NULL"}))
        cursor.execute(_copy(Approval, approvals, {"id": _uuid(), "draft_id": f"n + {first_draft}"}))
        cursor.execute(
            _events(first_draft, approvals, per_approval, drained), [PAYLOAD, *(["2026-01-01 00:00:00"] * 2)]
        )
    walls.install(connection)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # as its own housekeeping does; SQLite has none


def empty() -> None:
    """Marks everything as drained long ago, so that the next measurement finds only its own."""
    from approvals.models.clock import database_now

    OutboxEvent.objects.filter(drained_at=None).update(drained_at=database_now())


def _copy(model: type, count: int, changed: dict[str, str]) -> str:
    meta = model._meta  # type: ignore[attr-defined]
    columns = [field.column for field in meta.concrete_fields]
    values = [changed.get(column, f"t.{column}") for column in columns]
    return (
        f"WITH {_numbers(count)}, t AS (SELECT * FROM {meta.db_table} ORDER BY {meta.pk.column} LIMIT 1) "
        f"INSERT INTO {meta.db_table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM t, numbers"
    )


def _events(first_draft: int, approvals: int, per_approval: int, drained: bool) -> str:
    drained_at = "created_at" if drained else "NULL"
    return (
        f"WITH {_numbers(per_approval)}, new AS (SELECT id, draft_id FROM approvals_approval "
        f"WHERE draft_id >= {first_draft} AND draft_id < {first_draft + approvals}), "
        "fact AS (SELECT %s AS payload, CAST(%s AS TEXT) AS created_at, CAST(%s AS TEXT) AS due_at) "
        "INSERT INTO approvals_outboxevent (event_id, event_class, approval_id, payload, created_at, drained_at, "
        "attempts, next_attempt_at, last_error, claimed_by) "
        f"SELECT {_uuid()}, CASE n WHEN 0 THEN 'issuance' ELSE 'use' END, new.id, payload, {_time('created_at')}, "
        f"{_time(drained_at)}, 0, {_time('due_at')}, '', '' FROM new, numbers, fact ORDER BY draft_id, n"
    )


def _time(column: str) -> str:
    return f"CAST({column} AS TIMESTAMPTZ)" if connection.vendor == "postgresql" else column


def _numbers(count: int) -> str:
    if connection.vendor == "postgresql":
        return f"numbers AS (SELECT n FROM generate_series(0, {count - 1}) AS n)"
    return f"numbers(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM numbers WHERE n < {count - 1})"


def _uuid() -> str:
    return "gen_random_uuid()" if connection.vendor == "postgresql" else "lower(hex(randomblob(16)))"


def _next_id(model: type) -> int:
    newest = model.objects.order_by("-pk").first()  # type: ignore[attr-defined]
    return newest.pk + 1 if newest else 1
