"""The cast of every story, its room, its clock and its remote.

*ada* proposes, *reply-bot* proposes for her, *ben* (Legal) and *cleo* review, *max* operates, *vic* looks on, and
*dee* is a stranger. The room needs two approvals. `tickets` appends, `replies` is exclusive.
"""

import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Model

from approvals.connectors import registry
from approvals.domain.actor import Actor, system
from approvals.domain.gate import Verdict
from approvals.models import (
    Approval,
    AuditChain,
    AuditEvent,
    Channel,
    ChannelConfig,
    Draft,
    Membership,
    Room,
    User,
)
from approvals.models import clock as clocks
from approvals.services import configure
from approvals.services.config_schema import read
from approvals.services.decide import Decided, Shown, decide
from approvals.services.propose import Proposal, propose
from tests.support.remote import FakeConnector, Remote

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
PASSWORD = "correct horse battery staple"

CONFIG: dict[str, Any] = {
    "users": [
        *({"name": name} for name in ("ada", "ben", "cleo", "dee", "max", "vic")),
        {"name": "reply-bot", "kind": "agent", "acts_for": ["ada"]},
    ],
    "rooms": [
        {
            "slug": "facilities",
            "name": "Facilities tickets",
            "policy": {"required_approvals": 2, "dispatch_delay": "0s"},
            "members": [
                {"user": "ada", "roles": ["proposer"]},
                {"user": "reply-bot", "roles": ["proposer"]},
                {"user": "ben", "roles": ["reviewer"], "groups": ["legal"]},
                {"user": "cleo", "roles": ["reviewer"]},
                {"user": "max", "roles": ["operator"]},
                {"user": "vic", "roles": ["viewer"]},
            ],
            "channels": [
                {
                    "slug": "tickets",
                    "name": "Facilities tracker",
                    "connector": "fake",
                    "account": "facilities",
                    "resource": "issue",
                    "concurrency": "append",
                    "operations": {"ticket.create": {"schema": {"type": "object", "required": ["summary"]}}},
                },
                {
                    "slug": "replies",
                    "name": "Storefront replies",
                    "connector": "fake",
                    "account": "northwind",
                    "resource_pattern": "locations/*/reviews/*",
                    "idempotent": True,
                    "config": {"capabilities": ["lookup", "verify", "retract", "correct"]},
                    "operations": {"reply.upsert": {}},
                },
            ],
        }
    ],
}


@dataclass
class Clock:
    """The database's clock of a test: stands still until it is moved."""

    now: datetime = NOON

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **duration: float) -> datetime:
        self.now += timedelta(**duration)
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Replaces the database's clock everywhere."""
    fake = Clock()
    monkeypatch.setattr(clocks, "_read", fake)
    return fake


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Remote:
    """Makes `fake` a known connector, in this process only."""
    script = Remote()
    known = registry.get
    monkeypatch.setattr(
        registry, "get", lambda name, outbound=None: FakeConnector(script) if name == "fake" else known(name, outbound)
    )
    return script


@dataclass
class Story:
    """The cast at work: short verbs for what most tests need to have happened."""

    clock: Clock
    remote: Remote
    user: dict[str, User] = field(default_factory=dict)

    def actor(self, name: str, via: str = "api") -> Actor:
        user = self.user[name]
        return Actor(kind=user.kind, name=name, via=via, user_id=user.pk)

    @property
    def worker(self) -> Actor:
        return system("dispatch_approved")

    def propose(self, by: str = "ada", **proposal: Any) -> Draft:
        """Proposes a ticket (or, with a resource, a reply) and submits it."""
        defaults: dict[str, Any] = {
            "channel": "tickets",
            "operation": "ticket.create",
            "payload": {"summary": "The lift is stuck"},
            "title": "Report the lift",
        }
        if "resource" in proposal:
            reply = {"channel": "replies", "operation": "reply.upsert", "payload": {"comment": "Thank you"}}
            defaults |= reply
        wanted = Proposal(**(defaults | proposal))
        return propose(actor=self.actor(by), clock=self.clock, room_slug="facilities", proposal=wanted)

    def decide(self, draft: Draft, by: str, verdict: Verdict = Verdict.APPROVE, comment: str = "") -> Decided:
        approval = self.approval(draft)
        shown = Shown(approval.pk, approval.version, approval.digest)
        return decide(actor=self.actor(by), clock=self.clock, shown=shown, verdict=verdict, comment=comment)

    def approved(self, by: str = "ada", **proposal: Any) -> Draft:
        """Proposes and has both reviewers approve."""
        draft = self.propose(by, **proposal)
        self.decide(draft, "ben")
        self.decide(draft, "cleo")
        return self.again(draft)

    def again(self, draft: Draft) -> Draft:
        """Fetches a draft anew."""
        return Draft.objects.select_related("approval", "target", "channel").get(pk=draft.pk)

    def approval(self, draft: Draft) -> Approval:
        return Approval.objects.get(pk=self.again(draft).approval_id)

    def configure(self, document: dict[str, Any]) -> list[str]:
        return configure.apply(actor=system("apply_config", via="command"), clock=self.clock, spec=read(document))


@pytest.fixture
def story(db: None, clock: Clock, remote: Remote) -> Story:
    """The room with its people, in a transaction that is rolled back."""
    return _assemble(Story(clock, remote))


@pytest.fixture
def lasting_story(transactional_db: None, clock: Clock, remote: Remote) -> Story:
    """The same, committed: for other connections, threads and processes."""
    return _assemble(Story(clock, remote))


def _assemble(story: Story) -> Story:
    """Configures the room, the first time in a process by the service, later by the rows that the service left."""
    if _rows:
        with transaction.atomic():
            for model, rows in _rows:
                model.objects.bulk_create(copy.copy(row) for row in rows)
    else:
        story.configure(CONFIG)
        for user in User.objects.all():
            user.set_password(PASSWORD)
            user.save()
        _rows.extend((model, list(model.objects.order_by("pk"))) for model in _CONFIGURED)
    story.user.update({user.username: user for user in User.objects.all()})
    return story


_CONFIGURED: tuple[type[Model], ...] = (
    User,
    User.acts_for.through,
    Room,
    Membership,
    Channel,
    ChannelConfig,
    AuditChain,
    AuditEvent,
)
_rows: list[tuple[type[Model], list[Model]]] = []
"""What `CONFIG` leaves in an empty database. Copied, because thousands of tests begin with it."""
