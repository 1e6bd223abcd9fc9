"""Verbs on a throw-away SQLite file: what one writer gets done in a second."""

import itertools
from collections.abc import Iterator
from typing import Any

from bench.timing import Timing, measure

CONFIG: dict[str, Any] = {
    "users": [{"name": "ada"}, {"name": "ben"}],
    "rooms": [
        {
            "slug": "bench",
            "name": "Bench",
            "members": [{"user": "ada", "roles": ["proposer"]}, {"user": "ben", "roles": ["reviewer"]}],
            "channels": [
                {
                    "slug": "items",
                    "name": "Items",
                    "connector": "http",
                    "account": "bench",
                    "resource": "item",
                    "concurrency": "append",
                    "operations": {
                        "item.create": {
                            "send": {"method": "POST", "url": "https://api.example/items", "id_pointer": "/id"}
                        }
                    },
                }
            ],
        }
    ],
}


def timings() -> Iterator[Timing]:
    """Propose alone, then propose with the approval that completes it."""
    from approvals.domain.actor import system
    from approvals.models.clock import database_now
    from approvals.services import configure
    from approvals.services.config_schema import read

    configure.apply(actor=system("apply_config", via="command"), clock=database_now, spec=read(CONFIG))
    numbers = itertools.count()
    yield measure("propose", lambda: propose(next(numbers)))
    yield measure("propose and approve", lambda: approve(propose(next(numbers))))


def actor(name: str) -> Any:
    from approvals.domain.actor import Actor
    from approvals.models import User

    user = User.objects.get(username=name)
    return Actor(kind=user.kind, name=name, via="api", user_id=user.pk)


def propose(number: int) -> Any:
    from approvals.models.clock import database_now
    from approvals.services.propose import Proposal, propose

    proposal = Proposal(channel="items", operation="item.create", payload={"number": number}, title="Bench")
    return propose(actor=actor("ada"), clock=database_now, room_slug="bench", proposal=proposal)


def approve(draft: Any) -> Any:
    from approvals.domain.gate import Verdict
    from approvals.models import Approval
    from approvals.models.clock import database_now
    from approvals.services.decide import Shown, decide

    approval = Approval.objects.get(pk=draft.approval_id)
    shown = Shown(approval.pk, approval.version, approval.digest)
    return decide(actor=actor("ben"), clock=database_now, shown=shown, verdict=Verdict.APPROVE)
