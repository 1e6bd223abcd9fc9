"""The story, told by HTTP: an agent proposes, an edit voids an approval, two people approve, one ticket appears."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from approvals.domain.actor import system
from approvals.models import OutboxEvent
from approvals.selectors import whole
from approvals.services import tokens, verify
from approvals.sinks.file import FileSink
from approvals.workers import dispatch, drain, reconcile
from tests.cast import Story


class Caller:
    """One user of the API with a bearer token."""

    def __init__(self, client: Client, story: Story, name: str, scopes: str) -> None:
        self.client = client
        self.token = tokens.create(
            actor=system("create_token", via="command"), clock=story.clock, username=name, scopes=scopes.split()
        )

    def get(self, path: str) -> Any:
        return self._answer(self.client.get(path, **self._headers()))

    def post(self, path: str, body: dict[str, Any], **headers: str) -> Any:
        response = self.client.post(path, json.dumps(body), content_type="application/json", **self._headers(**headers))
        return self._answer(response)

    def put(self, path: str, body: dict[str, Any], **headers: str) -> Any:
        response = self.client.put(path, json.dumps(body), content_type="application/json", **self._headers(**headers))
        return self._answer(response)

    def approve(self, draft: dict[str, Any]) -> Any:
        body = {"verdict": "approve", "version": draft["version"], "digest": draft["digest"]}
        return self.post(f"/v1/approvals/{draft['approval']['id']}/decisions", body)

    def _headers(self, **headers: str) -> dict[str, Any]:
        return {"headers": {"Authorization": f"Bearer {self.token}", **headers}}

    @staticmethod
    def _answer(response: Any) -> Any:
        return response.status_code, response.json()


@pytest.fixture
def cast(client: Client, story: Story) -> dict[str, Caller]:
    scopes = {"reply-bot": "propose introspect", "ben": "review", "cleo": "review", "ada": "propose"}
    return {name: Caller(client, story, name, wanted) for name, wanted in scopes.items()}


TICKET = {
    "room": "facilities",
    "channel": "tickets",
    "operation": "ticket.create",
    "payload": {"summary": "The lift is stuck"},
    "title": "Report the lift",
}


def test_the_story(story: Story, cast: dict[str, Caller], tmp_path: Path) -> None:
    bot, ben, cleo = cast["reply-bot"], cast["ben"], cast["cleo"]

    # The agent proposes; asking twice with one key makes one draft.
    status, first = bot.post("/v1/drafts", TICKET, **{"Idempotency-Key": "lift-1"})
    assert (status, first["state"], first["acts_for"]) == (201, "in_review", "ada")
    assert bot.post("/v1/drafts", TICKET, **{"Idempotency-Key": "lift-1"})[1]["id"] == first["id"]

    # Ben approves; then a byte changes, and his approval covers nothing any more.
    assert ben.approve(first)[0] == 200
    changed = {"payload": {"summary": "The lift is stuck on floor 3"}}
    status, second = bot.put(f"/v1/drafts/{first['id']}", changed, **{"If-Match": f'"{first["version"]}"'})
    assert (status, second["changed"], second["version"]) == (200, True, 2)
    assert second["approval"]["approvals_counted"] == 0
    status, problem = cleo.approve(first)
    assert (status, problem["code"], problem["current"]["digest"]) == (409, "superseded", second["digest"])

    # Both approve what is current; it is sent once, and read back.
    assert ben.approve(second)[0] == 200
    status, claim = bot.get(f"/v1/approvals/{second['approval']['id']}/claim")
    assert (claim["state"], claim["approvals_counted"], claim["binding_digest"]) == ("pending", 1, second["digest"])
    assert cleo.approve(second)[0] == 200
    assert bot.get(f"/v1/drafts/{first['id']}")[1]["state"] == "approved"
    assert dict(dispatch.run(concurrency=1, clock=story.clock)) == {"delivered": 1}
    assert dict(reconcile.run(concurrency=1, clock=story.clock)) == {"confirmed": 1}
    status, done = bot.get(f"/v1/drafts/{first['id']}")
    assert (done["state"], done["delivery"]["remote_id"], len(story.remote.sent)) == ("confirmed", "issue42", 1)

    # The sink has every event, in order, as it was stored; the record verifies.
    sink = tmp_path / "sink.jsonl"
    drain.run(clock=story.clock, sink=FileSink(sink))
    stored = [event.payload for event in OutboxEvent.objects.order_by("id")]
    assert sink.read_text().splitlines() == stored
    assert [json.loads(line)["details"]["class"] for line in stored] == ["supersession", "issuance", "use"]
    assert list(whole.problems()) == []
    assert list(verify.problems()) == []
