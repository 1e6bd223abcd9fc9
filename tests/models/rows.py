"""Rows for the tests of the walls: lawful ones by the ORM, and everything that knocks at the walls by raw SQL."""

from collections import deque
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import uuid4

from django.db import connection, models

from approvals.domain.policy import Policy
from approvals.domain.states import Machine
from approvals.models import (
    Approval,
    Attempt,
    AuditChain,
    AuditEvent,
    ChainCheckpoint,
    Channel,
    ChannelConfig,
    Decision,
    Delivery,
    DispatchClaim,
    Draft,
    Exclusion,
    Heartbeat,
    Observation,
    OutboxEvent,
    Revision,
    Room,
    Target,
    User,
)
from approvals.models.walls import MACHINE_OF

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
LATER = NOON + timedelta(minutes=5)
DIGEST = "sha256:" + "a" * 64

_numbers = count(1)


class Rows:
    """One lawful row of every table, made when it is first asked for."""

    def __init__(self) -> None:
        self.made: dict[str, models.Model] = {}

    def __getitem__(self, model: str) -> Any:
        if model not in self.made:
            self.made[model] = getattr(self, f"_{model.lower()}")()
        return self.made[model]

    def _user(self) -> User:
        return User.objects.create(username=f"user-{next(_numbers)}")

    def _room(self) -> Room:
        return Room.objects.create(slug=f"room-{next(_numbers)}", name="Room")

    def _channel(self) -> Channel:
        return Channel.objects.create(room=self["Room"], slug="tickets", name="Tickets", connector="fake")

    def _channelconfig(self) -> ChannelConfig:
        return ChannelConfig.objects.create(channel=self["Channel"], number=1, account="a", created_at=NOON)

    def _target(self) -> Target:
        return Target.objects.create(connector="fake", account="a", resource=f"r-{next(_numbers)}", created_at=NOON)

    def _dispatchclaim(self) -> DispatchClaim:
        return DispatchClaim.objects.create(target=self["Target"])

    def _draft(self) -> Draft:
        place = {"room": self["Room"], "channel": self["Channel"], "target": self["Target"]}
        times = dict.fromkeys(("due_at", "created_at", "updated_at"), NOON)
        return Draft.objects.create(**place, **times, operation="ticket.create", title="Lift", author=self["User"])

    def _revision(self) -> Revision:
        draft = self["Draft"]
        return Revision.objects.create(
            draft=draft,
            number=1,
            channel=draft.channel,
            target=draft.target,
            operation=draft.operation,
            canonical=b"{}",
            digest=DIGEST,
            author=draft.author,
            created_at=NOON,
        )

    def _exclusion(self) -> Exclusion:
        return Exclusion.objects.create(draft=self["Draft"], user=self["User"])

    def _approval(self) -> Approval:
        return Approval.objects.create(
            draft=self["Draft"],
            revision=self["Revision"],
            target=self["Target"],
            config=self["ChannelConfig"],
            version=1,
            digest=DIGEST,
            target_version=1,
            rendering_digest=DIGEST,
            policy=Policy().snapshot(),
            required_approvals=1,
            opened_at=NOON,
            expires_at=LATER,
        )

    def _decision(self) -> Decision:
        facts = {"verdict": "approve", "version": 1, "digest": DIGEST, "via": "api", "decided_at": NOON}
        return Decision.objects.create(approval=self["Approval"], reviewer=self["User"], seq=1, **facts)

    def _delivery(self) -> Delivery:
        return self.delivery()

    def delivery(self, **changes: Any) -> Delivery:
        about = {"approval": self["Approval"], "draft": self["Draft"], "target": self["Target"]}
        facts = {"id": uuid4(), "kind": "write", "config": self["ChannelConfig"], "created_at": NOON, **about}
        return Delivery.objects.create(**{**facts, **changes})

    def _attempt(self) -> Attempt:
        holder = {"epoch": 1, "token": uuid4(), "owner": "worker-1", "lease_until": LATER}
        return Attempt.objects.create(delivery=self["Delivery"], number=1, started_at=NOON, **holder)

    def _observation(self) -> Observation:
        times = {"begun_at": NOON, "recorded_at": NOON}
        return Observation.objects.create(
            delivery=self["Delivery"], kind="lookup", attempt_number=1, answer="absent", **times
        )

    def _outboxevent(self) -> OutboxEvent:
        return OutboxEvent.objects.create(
            event_id=uuid4(),
            event_class="issuance",
            approval=self["Approval"],
            payload="{}",
            created_at=NOON,
            next_attempt_at=NOON,
        )

    def _heartbeat(self) -> Heartbeat:
        return Heartbeat.objects.create(number=1, slot_at=NOON, event_id=uuid4(), created_at=NOON, digest=DIGEST)

    def _chaincheckpoint(self) -> ChainCheckpoint:
        return ChainCheckpoint.objects.create(
            chain=self["AuditChain"], seq=1, head="a" * 64, heartbeat=self["Heartbeat"]
        )

    def _auditchain(self) -> AuditChain:
        return AuditChain.objects.create(key=f"draft:{next(_numbers)}")

    def _auditevent(self) -> AuditEvent:
        facts = {"actor": "person:ada", "action": "draft.proposed", "outcome": "success", "body": "{}"}
        hashes = {"prev_hash": "0" * 64, "hash": "1" * 64}
        return AuditEvent.objects.create(chain=self["AuditChain"], seq=1, at=NOON, **facts, **hashes)

    def in_state(self, model: str, state: str) -> Any:
        """Brings the row of a state model into a state, step by lawful step, in raw SQL."""
        row = self[model]
        for step in path(MACHINE_OF[model], state, start=row.state):
            change(row, state=step, **self.company(model, step))
        return type(row).objects.get(pk=row.pk)

    def company(self, model: str, state: str) -> dict[str, Any]:
        """Gives the columns that must come with a state, so that nothing but the state can be refused."""
        if model == "DispatchClaim" and state != "idle":
            claim = DispatchClaim.objects.get(pk=self[model].pk)
            taken = (
                {"epoch": claim.epoch + 1, "token": uuid4()}
                if state == "reserved"
                else {"token": claim.token or uuid4()}
            )
            return {"owner": "worker-1", "lease_until": LATER, "delivery_id": uuid4(), **taken}
        return {"delivery": self["Delivery"].pk} if (model, state) == ("Approval", "consumed") else {}


def path(machine: Machine, goal: str, *, start: str) -> list[str]:
    """Gives the states on a shortest way of lawful moves."""
    ways = deque([[start]])
    while ways:
        way = ways.popleft()
        if way[-1] == goal:
            return way[1:]
        ways += [[*way, target] for source, target in sorted(machine.pairs()) if source == way[-1]]
    raise AssertionError(f"no way from {start} to {goal}")


def change(row: models.Model, *, verb: str = "UPDATE", **values: Any) -> int:
    """Runs a raw UPDATE of one row; gives how many rows it changed."""
    columns = {row._meta.get_field(name): value for name, value in values.items()}
    changes = ", ".join(f"{field.column} = %s" for field in columns)
    return run(
        f"{verb} {table(row)} SET {changes} WHERE {key(row)} = %s", *stored(columns), *stored({row._meta.pk: row.pk})
    )


def remove(row: models.Model) -> int:
    """Runs a raw DELETE of one row; gives how many rows it removed."""
    return run(f"DELETE FROM {table(row)} WHERE {key(row)} = %s", *stored({row._meta.pk: row.pk}))


def insert_like(row: models.Model, *, verb: str = "INSERT", **changes: Any) -> int:
    """Runs a raw INSERT of a copy of one row: as it is in the database but for the changes and a new number."""
    fields = [field for field in row._meta.concrete_fields if not (_is_number(field) and field.name not in changes)]
    wanted = {row._meta.get_field(name): value for name, value in changes.items()}
    sources = ["%s" if field in wanted else field.column for field in fields]
    values = stored({field: wanted[field] for field in fields if field in wanted})
    names = ", ".join(field.column for field in fields)
    return run(
        f"{verb} INTO {table(row)} ({names}) SELECT {', '.join(sources)} FROM {table(row)} WHERE {key(row)} = %s",
        *values,
        *stored({row._meta.pk: row.pk}),
    )


def run(sql: str, *values: Any) -> int:
    """Runs a statement on the connection of the test."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.rowcount


def table(row: models.Model) -> str:
    return row._meta.db_table


def key(row: models.Model) -> str:
    return row._meta.pk.column


def stored(columns: dict[Any, Any]) -> list[Any]:
    """Gives values as the database keeps them."""
    return [field.get_db_prep_save(value, connection) for field, value in columns.items()]


def _is_number(field: Any) -> bool:
    return field.primary_key and isinstance(field, models.AutoField)
