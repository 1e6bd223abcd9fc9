"""The rooms of the demo, and short verbs for the people in them; everything goes through the services."""

import tomllib
from pathlib import Path
from typing import Any

from approvals.domain.actor import Actor, system
from approvals.domain.gate import Verdict
from approvals.models import Approval, Draft, User
from approvals.services import configure
from approvals.services.config_schema import ConfigSpec, read
from approvals.services.decide import Shown, decide
from approvals.services.door import database_now
from approvals.services.propose import Proposal, propose

FILE = Path(__file__).with_name("room.toml")
ROOM = "facilities"
CHANNEL = "tracker"
PEOPLE = ("ada", "ben", "cleo", "max")


def tracker_url(port: int) -> str:
    return f"http://127.0.0.1:{port}/rest/data"


def document(base_url: str, **policy: Any) -> dict[str, Any]:
    """Gives the configuration with the tracker's real address, and other rules for its room where wanted."""
    wanted = tomllib.loads(FILE.read_text(encoding="utf-8"))
    facilities = wanted["rooms"][0]
    facilities["policy"] |= policy
    facilities["channels"][0]["config"]["base_url"] = base_url
    return wanted


def apply(wanted: dict[str, Any], *, command: str) -> list[str]:
    """Makes the rooms match; gives what changed."""
    spec: ConfigSpec = read(wanted)
    return configure.apply(actor=system(command, via="command"), clock=database_now, spec=spec)


def person(name: str) -> Actor:
    """Gives one of the cast as somebody who acts."""
    user = User.objects.get(username=name)
    return Actor(kind=user.kind, name=name, via="command", user_id=user.pk)


def proposed(by: str, room: str = ROOM, **proposal: Any) -> Draft:
    """Proposes an action and, unless told otherwise, submits it."""
    place = {"channel": CHANNEL, "operation": "ticket.create"}
    if room != ROOM:
        place = {"channel": "replies", "operation": "reply.upsert"}
    wanted = Proposal(**(place | proposal))
    return propose(actor=person(by), clock=database_now, room_slug=room, proposal=wanted)


def decided(draft: Draft, by: str, verdict: Verdict = Verdict.APPROVE, comment: str = "") -> Draft:
    """Decides on the newest revision, as if it had just been shown."""
    approval = Approval.objects.get(pk=Draft.objects.get(pk=draft.pk).approval_id)
    shown = Shown(approval.pk, approval.version, approval.digest, database_now())
    return decide(actor=person(by), clock=database_now, shown=shown, verdict=verdict, comment=comment).draft
