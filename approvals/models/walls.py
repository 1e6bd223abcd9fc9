"""What the database itself refuses, whoever asks: triggers generated from the state tables.

They are no migration. Django rebuilds SQLite tables to alter them, which loses triggers, so `pre_migrate` drops the
walls and `post_migrate` builds them anew; a digest says which walls stand. Not defended: whoever may drop triggers.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper

from approvals.domain.states import (
    APPROVAL,
    DELIVERY,
    DISPATCH_CLAIM,
    DRAFT,
    LIVE_APPROVAL,
    ClaimState,
    DeliveryState,
    Machine,
)

PREFIX = "reviewroom_wall"

MACHINE_OF = {"Approval": APPROVAL, "Delivery": DELIVERY, "DispatchClaim": DISPATCH_CLAIM, "Draft": DRAFT}
IMMUTABLE = ("Revision", "Decision", "ChannelConfig", "AuditEvent", "Observation", "Exclusion", "Heartbeat")
UNDELETABLE = ("Approval", "Delivery", "DispatchClaim", "Draft", "Attempt", "AuditChain", "ChainCheckpoint", "Target")
FROZEN = {
    "Approval": (
        "id draft revision target config version digest target_version rendering_digest policy required_approvals "
        "opened_at"
    ),
    "Delivery": "id kind approval draft target config created_at",
    "DispatchClaim": "id target",
    "Draft": "id",
    "Attempt": "id delivery number epoch token owner lease_until started_at",
    "OutboxEvent": "id event_id event_class approval payload created_at",
    "Target": "id connector account resource",
    "AuditChain": "id key",
    "ChainCheckpoint": "chain",
}
STANDS_IN_THE_WAY = {
    "Approval": f"draft_id = NEW.draft_id AND state IN ('{LIVE_APPROVAL[0]}', '{LIVE_APPROVAL[1]}')",
    "Delivery": (
        "approval_id = NEW.approval_id AND kind = NEW.kind "
        f"AND (kind = 'write' OR state <> '{DeliveryState.DELIVERED}')"
    ),
}
"""Which row the conditional unique constraints keep a newborn one from standing beside."""


@dataclass(frozen=True, slots=True)
class Wall:
    """One trigger: `event` on `table` is refused where `condition` holds (OLD and NEW are the row)."""

    name: str
    table: str
    event: str
    condition: str
    message: str


@cache
def walls(vendor: str) -> tuple[Wall, ...]:
    """Gives every wall for a database vendor, in a stable order."""
    differs = "IS DISTINCT FROM" if vendor == "postgresql" else "IS NOT"
    return (
        *_machine_walls(),
        *_history_walls(differs),
        *_claim_walls(differs),
        *(_replace_walls() if vendor == "sqlite" else ()),
    )


@cache
def digest(vendor: str) -> str:
    """Gives the hex SHA-256 of all statements that build the walls."""
    return hashlib.sha256("\n".join(_statements(vendor)).encode()).hexdigest()


def install(connection: BaseDatabaseWrapper) -> None:
    """Builds the walls and notes their digest. Idempotent."""
    drop(connection)
    with connection.cursor() as cursor:
        for statement in _statements(connection.vendor):
            cursor.execute(statement)
    _note_installation(connection)


def drop(connection: BaseDatabaseWrapper) -> None:
    """Takes the walls down: for `migrate` and for test harnesses that flush, never for production code."""
    with connection.cursor() as cursor:
        for name, table in _standing_names(connection):
            on = f" ON {table}" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}{on}")


def problems(connection: BaseDatabaseWrapper) -> list[str]:
    """Says in sentences how the walls that stand differ from the ones that should; empty means they are whole."""
    expected = {wall.name for wall in walls(connection.vendor)} | set(_truncate_names(connection.vendor))
    standing = {name for name, _ in _standing_names(connection, armed=True)}
    found = [f"The wall {name} is missing." for name in sorted(expected - standing)]
    found += [f"The wall {name} should not be there." for name in sorted(standing - expected)]
    installation = _model("Installation").objects.using(connection.alias).first()
    if installation is None or installation.walls_digest != digest(connection.vendor):
        found.append("The walls were built from other tables.")
    return [f"{sentence} Run manage.py migrate to build the walls anew." for sentence in found]


def before_migrate(*, using: str = DEFAULT_DB_ALIAS, **_: Any) -> None:
    drop(connections[using])


def after_migrate(*, using: str = DEFAULT_DB_ALIAS, **_: Any) -> None:
    connection = connections[using]
    tables = set(connection.introspection.table_names())
    if {_table(name) for name in (*MACHINE_OF, *IMMUTABLE, "Installation")} <= tables:
        install(connection)


def _model(name: str) -> type[models.Model]:
    return apps.get_model("approvals", name)


def _table(name: str) -> str:
    return str(_model(name)._meta.db_table)


def _wall(rule: str, model: str, event: str, condition: str, message: str) -> Wall:
    return Wall(f"{PREFIX}_{rule}_{model.lower()}", _table(model), event, condition, message)


def _machine_walls() -> Iterator[Wall]:
    for model, machine in MACHINE_OF.items():
        born = f"NEW.state NOT IN ({_list(machine.initial)})"
        yield _wall("born", model, "INSERT", born, f"a {machine.name} is not born in this state")
        yield _wall("jump", model, "UPDATE", _jump(machine), f"a {machine.name} cannot move like this")


def _jump(machine: Machine) -> str:
    targets: dict[str, list[str]] = {state: [] for state in machine.states}
    for source, target in sorted(machine.pairs()):
        targets[source].append(target)
    legal = " OR ".join(
        f"(OLD.state = '{source}' AND NEW.state IN ({_list(found)}))" for source, found in targets.items() if found
    )
    return f"NEW.state <> OLD.state AND NOT ({legal})"


def _list(states: Any) -> str:
    return ", ".join(f"'{state}'" for state in states)


def _history_walls(differs: str) -> Iterator[Wall]:
    for model in IMMUTABLE:
        yield _wall("update", model, "UPDATE", "1 = 1", "history does not change")
        yield _wall("delete", model, "DELETE", "1 = 1", "history does not go away")
    for model in UNDELETABLE:
        yield _wall("delete", model, "DELETE", "1 = 1", "history does not go away")
    for model, names in FROZEN.items():
        columns = [_model(model)._meta.get_field(name).column for name in names.split()]
        changed = " OR ".join(f"{_cast(column, 'NEW')} {differs} {_cast(column, 'OLD')}" for column in columns)
        yield _wall("frozen", model, "UPDATE", changed, "these columns do not change")
    yield _wall("finished", "Attempt", "UPDATE", "OLD.finished_at IS NOT NULL", "a finished attempt does not change")
    yield _wall(
        "undrained",
        "OutboxEvent",
        "DELETE",
        "OLD.drained_at IS NULL",
        "the sink has not been told of this event",
    )
    recounted = f"OLD.counted_in_id IS NOT NULL AND NEW.counted_in_id {differs} OLD.counted_in_id"
    yield _wall("counted", "OutboxEvent", "UPDATE", recounted, "an event is counted once")


def _cast(column: str, row: str) -> str:
    """Compares JSON as text: PostgreSQL has no equality for `json`, and for `jsonb` the text is canonical."""
    return f"CAST({row}.{column} AS TEXT)" if column == "policy" else f"{row}.{column}"


def _claim_walls(differs: str) -> Iterator[Wall]:
    taken = (
        f"NEW.state = '{ClaimState.RESERVED}' AND NOT ("
        f"(NEW.epoch = OLD.epoch + 1 AND NEW.token {differs} OLD.token) OR "
        f"(OLD.state = '{ClaimState.RESERVED}' AND NEW.epoch = OLD.epoch AND NOT (NEW.token {differs} OLD.token)))"
    )
    yield _wall("epoch", "DispatchClaim", "UPDATE", taken, "a reservation needs the next epoch and a new token")
    yield _wall("order", "DispatchClaim", "UPDATE", "NEW.epoch < OLD.epoch", "an epoch never goes back")


def _replace_walls() -> Iterator[Wall]:
    """Guards against OR REPLACE, whose hidden delete fires no trigger unless recursive_triggers is on."""
    for model in sorted({*MACHINE_OF, *IMMUTABLE, *FROZEN}):
        meta = _model(model)._meta
        assert meta.pk is not None
        unique = [" AND ".join(f"{name} = NEW.{name}" for name in names) for names in _unique_columns(meta)]
        same = " OR ".join([f"{meta.pk.column} = NEW.{meta.pk.column}", *unique, *_conditionally_unique(model)])
        yield _wall("replace", model, "INSERT", _exists(meta, same), "such a row exists and is not replaced")
        for name in _movable_columns(meta):
            taken = f"NEW.{name} IS NOT OLD.{name} AND {_exists(meta, f'{name} = NEW.{name}')}"
            yield _wall(f"take_{name}", model, "UPDATE", taken, "another row holds this and is not replaced")


def _exists(meta: Any, condition: str) -> str:
    return f"EXISTS (SELECT 1 FROM {meta.db_table} WHERE {condition})"  # noqa: S608  names of our own tables


def _conditionally_unique(model: str) -> Iterator[str]:
    if model in STANDS_IN_THE_WAY:
        yield f"({STANDS_IN_THE_WAY[model]})"


def _movable_columns(meta: Any) -> Iterator[str]:
    """Gives the unique columns that may change."""
    frozen = FROZEN.get(meta.object_name, "").split()
    for field in meta.concrete_fields:
        if field.unique and not field.primary_key and field.name not in frozen and meta.object_name not in IMMUTABLE:
            yield field.column


def _unique_columns(meta: Any) -> Iterator[tuple[str, ...]]:
    yield from ((field.column,) for field in meta.concrete_fields if field.unique and not field.primary_key)
    for constraint in meta.constraints:
        if isinstance(constraint, models.UniqueConstraint) and constraint.condition is None:
            yield tuple(meta.get_field(name).column for name in constraint.fields)


def _statements(vendor: str) -> Iterator[str]:
    if vendor == "postgresql":
        yield from _postgresql_statements()
        return
    for wall in walls(vendor):
        yield (
            f"CREATE TRIGGER {wall.name} BEFORE {wall.event} ON {wall.table} WHEN {wall.condition} "
            f"BEGIN SELECT RAISE(ABORT, 'wall: {wall.message}'); END"
        )


def _postgresql_statements() -> Iterator[str]:
    yield (
        f"CREATE OR REPLACE FUNCTION {PREFIX}() RETURNS trigger LANGUAGE plpgsql AS $wall$ BEGIN "
        "RAISE EXCEPTION 'wall: %', TG_ARGV[0] USING ERRCODE = '23514'; END $wall$"
    )
    for wall in walls("postgresql"):
        yield (
            f"CREATE TRIGGER {wall.name} BEFORE {wall.event} ON {wall.table} FOR EACH ROW "
            f"WHEN ({wall.condition}) EXECUTE FUNCTION {PREFIX}('{wall.message}')"
        )
        yield f"ALTER TABLE {wall.table} ENABLE ALWAYS TRIGGER {wall.name}"
    for name, table in _truncate_names("postgresql").items():
        yield (
            f"CREATE TRIGGER {name} BEFORE TRUNCATE ON {table} FOR EACH STATEMENT "
            f"EXECUTE FUNCTION {PREFIX}('history does not go away')"
        )
        yield f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}"


def _truncate_names(vendor: str) -> dict[str, str]:
    if vendor != "postgresql":
        return {}
    return {f"{PREFIX}_truncate_{name.lower()}": _table(name) for name in (*MACHINE_OF, *IMMUTABLE, *FROZEN)}


def _standing_names(connection: BaseDatabaseWrapper, *, armed: bool = False) -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            enabled = "AND tgenabled = 'A'" if armed else ""
            cursor.execute(
                "SELECT tgname, tgrelid::regclass::text FROM pg_trigger "  # noqa: S608  no outside words
                f"WHERE NOT tgisinternal {enabled} AND starts_with(tgname, %s)",
                [PREFIX],
            )
        else:
            cursor.execute(
                "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger' AND name LIKE %s",
                [f"{PREFIX}%"],
            )
        return [(str(name), str(table)) for name, table in cursor.fetchall()]


def _note_installation(connection: BaseDatabaseWrapper) -> None:
    rows = _model("Installation").objects.using(connection.alias)
    rows.get_or_create(id=1, defaults={"instance_id": settings.REVIEWROOM_INSTANCE})
    rows.filter(id=1).update(walls_digest=digest(connection.vendor))
