"""A caller of the HTTP API for each of the cast."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from approvals.domain.actor import system
from approvals.domain.states import DraftState
from approvals.services import tokens
from tests.cast import Story
from tests.services import states

SCOPES = {
    "ada": ["propose"],
    "reply-bot": ["propose", "introspect"],
    "ben": ["propose", "review"],
    "cleo": ["review"],
    "max": ["operate"],
    "vic": ["introspect"],
    "dee": ["propose", "review", "introspect", "operate"],
}
TICKET: dict[str, Any] = {
    "room": "facilities",
    "channel": "tickets",
    "operation": "ticket.create",
    "payload": {"summary": "The lift is stuck"},
    "title": "Report the lift",
}


@dataclass
class Api:
    """Calls as somebody; nobody where `by` is None."""

    story: Story
    client: Client = field(default_factory=Client)
    held: dict[str, str] = field(default_factory=dict)

    def token(self, name: str, scopes: list[str] | None = None, acts_for: str | None = None) -> str:
        wanted = scopes or SCOPES[name]
        return tokens.create(
            actor=system("create_token", via="command"),
            clock=self.story.clock,
            username=name,
            scopes=wanted,
            acts_for=acts_for,
        )

    def call(self, method: str, path: str, body: Any = None, *, by: str | None = "ada", **headers: str) -> Any:
        """Calls `path`; a body of bytes goes as it is. Headers are written with underscores."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if by is not None:
            sent.setdefault("Authorization", f"Bearer {self._held(by)}")
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        return self.client.generic(method, path, raw, content_type="application/json", headers=sent)

    def get(self, path: str, **kwargs: Any) -> Any:
        return self.call("GET", path, **kwargs)

    def post(self, path: str, body: Any = None, **kwargs: Any) -> Any:
        return self.call("POST", path, body, **kwargs)

    def put(self, path: str, body: Any = None, **kwargs: Any) -> Any:
        return self.call("PUT", path, body, **kwargs)

    def propose(self, *, by: str = "ada", **changes: Any) -> Any:
        return self.post("/v1/drafts", TICKET | changes, by=by)

    def decide(self, draft: dict[str, Any], *, by: str, verdict: str = "approve", **changes: Any) -> Any:
        """Decides on what a draft's document shows."""
        body = {"verdict": verdict, "version": draft["version"], "digest": draft["digest"]} | changes
        return self.post(f"/v1/approvals/{draft['approval']['id']}/decisions", body, by=by)

    def _held(self, name: str) -> str:
        if name not in self.held:
            self.held[name] = self.token(name)
        return self.held[name]


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """Makes all calls in threads of their own, with connections of their own, and gives the answers."""

    def closing(call: Callable[[], Any]) -> Any:
        try:
            return call()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(closing, calls))


@pytest.fixture(autouse=True)
def _signing_key(settings: Any, tmp_path: Any) -> None:
    settings.REVIEWROOM_SIGNING_KEY_FILE = tmp_path / "keys" / "signing-key.json"


@pytest.fixture
def api(story: Story) -> Api:
    return Api(story)


@pytest.fixture
def lasting_api(lasting_story: Story) -> Api:
    """The same on committed data, for tests with threads."""
    return Api(lasting_story)


@pytest.fixture
def submitted(api: Api) -> dict[str, Any]:
    """The document of a draft that was sent."""
    draft = states.build(api.story, DraftState.SUBMITTED)
    return dict(api.get(f"/v1/drafts/{draft.pk}").json())
