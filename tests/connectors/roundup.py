"""A real Roundup for the conformance suite: every request passes through a stand-in that can misbehave."""

import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Self

from approvals.connectors.base import Capability, Settings
from approvals.connectors.conformance import Asked, Behaviour, Harness, Reply, StandIn, Verb
from approvals.connectors.roundup import RoundupConnector
from reviewroom.demo.tracker import Tracker

_HOP = {"host", "connection", "content-length", "accept-encoding"}


class Door(StandIn):
    """Hands requests on to the tracker and its answers back."""

    def __init__(self, tracker: Tracker) -> None:
        super().__init__()
        self.tracker = tracker

    def verb_of(self, asked: Asked) -> Verb | None:
        if asked.method == "DELETE":
            return Verb.RETRACT
        if asked.method == "POST":
            return Verb.SEND if "/@poe/" in asked.path else None
        if "reviewroom_id=" in asked.path:
            return Verb.LOOKUP
        return Verb.VERIFY if "?id=" in asked.path else None

    def answer(self, asked: Asked) -> Reply:
        headers = {name: value for name, value in asked.headers.items() if name not in _HOP}
        url = self.tracker.web_url.rstrip("/") + asked.path
        request = urllib.request.Request(url, asked.body or None, headers, method=asked.method)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return Reply(answer.status, answer.read(), _kept(answer.headers))
        except urllib.error.HTTPError as error:
            with error:
                return Reply(error.code, error.read(), _kept(error.headers))


class RoundupHarness(Harness):
    """A channel for tickets at the session's tracker."""

    connector_class = RoundupConnector
    operation = "ticket.create"
    resource = "issue"
    declares = frozenset({Capability.LOOKUP, Capability.VERIFY, Capability.RETRACT})

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker

    def __enter__(self) -> Self:
        self.door = Door(self.tracker)
        self._before = self._issues()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.door.__exit__(*exc_info)

    @property
    def settings(self) -> Settings:
        config = {
            "base_url": f"{self.door.url}/rest/data",
            "web_url": self.tracker.web_url,
            "properties": {"summary": "title"},
        }
        return Settings(
            "roundup",
            "facilities",
            "TRACKER",
            concurrency="append",
            resource="issue",
            config=config,
            operations={"ticket.create": {}},
        )

    @property
    def environ(self) -> Mapping[str, str]:
        return {
            "REVIEWROOM_TARGET_SECRET_TRACKER": self.tracker.secret,
            "REVIEWROOM_TARGET_SECRET_TRACKER_HOSTS": self.door.host,
        }

    @property
    def markers(self) -> tuple[str, ...]:
        return (self.tracker.secret, self.tracker.secret.partition(":")[2])

    def payload(self, text: str) -> dict[str, Any]:
        return {"summary": text, "room": "4b", "priority": "urgent", "details": "one\r\ntwo é"}

    def behave(self, verb: Verb, behaviour: Behaviour) -> None:
        self.door.behave(verb, behaviour)

    def requests(self) -> int:
        return len(self.door.asked)

    def effects(self) -> int:
        return self._issues() - self._before

    def change(self, remote_id: str) -> None:
        self.tracker.edit(remote_id, title="Somebody else's")

    def remove(self, remote_id: str) -> None:
        self.tracker.retire(remote_id)

    def faults(self) -> Iterable[tuple[str, Settings]]:
        settings = self.settings
        yield "no base_url", replace(settings, config={})
        yield "a base_url with a password", replace(settings, config={"base_url": "https://a:b@t.example/rest/data"})
        yield "a base_url that is no REST interface", replace(settings, config={"base_url": "https://t.example/"})
        yield "no secret", replace(settings, secret="")
        yield "idempotent", replace(settings, idempotent=True)

    def _issues(self) -> int:
        return len(self.tracker.rest("issue")["collection"])


def _kept(headers: Any) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() in ("content-type", "etag", "location")}
