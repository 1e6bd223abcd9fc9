"""A stand-in for an API with one page per name, behind a bearer token, whose answers name no id."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

from approvals.connectors.base import Capability, Settings
from approvals.connectors.conformance import Asked, Behaviour, Harness, Reply, StandIn, Verb
from approvals.connectors.http import HttpConnector

TOKEN = "marker-token-marker"


class Pages(StandIn):
    """`PUT /pages/NAME` writes one, `GET` shows it, `DELETE` takes it away; `GET /pages?operation_id=` finds it."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: dict[str, dict[str, Any]] = {}
        self.effects = 0

    def verb_of(self, asked: Asked) -> Verb | None:
        if asked.method == "GET":
            return Verb.LOOKUP if "operation_id=" in asked.path else Verb.VERIFY
        return Verb.SEND if asked.method == "PUT" else Verb.RETRACT

    def answer(self, asked: Asked) -> Reply:
        if asked.headers.get("x-api-key") != f"Token {TOKEN}":
            return self.refusal(401, "who are you?")
        parts = urlsplit(asked.path)
        name = unquote(parts.path.removeprefix("/pages").strip("/"))
        if asked.method == "GET" and not name:
            wanted = parse_qs(parts.query)["operation_id"][0]
            return Reply(200, [key for key, page in self.pages.items() if page["operation"] == wanted])
        if asked.method == "PUT":
            return self._write(name, asked)
        if name not in self.pages:
            return Reply(404, {"error": "no such page"})
        if asked.method == "DELETE":
            del self.pages[name]
            return Reply(204)
        return Reply(200, self.pages[name]["text"])

    def _write(self, name: str, asked: Asked) -> Reply:
        key = asked.headers["idempotency-key"]
        if self.pages.get(name, {}).get("operation") != key:
            self.effects += 1
            self.pages[name] = {"operation": key, "text": json.loads(asked.body)}
        return Reply(200, {"name": name}) if "first" in parse_qs(urlsplit(asked.path).query) else Reply(204)


class PagesHarness(Harness):
    """An exclusive channel: the resource is the page, and a correction is believed without an id."""

    connector_class = HttpConnector
    operation = "page.write"
    correcting_operation = "page.amend"
    resource = "guests/4 b"
    declares = frozenset(Capability) - {Capability.CORRECT}
    reads = True

    def __enter__(self) -> Self:
        self.remote = Pages()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remote.__exit__(*exc_info)

    @property
    def settings(self) -> Settings:
        url = f"{self.remote.url}/pages"
        page = f"{url}/{{resource}}"
        rest = {
            "lookup": {"url": f"{url}?operation_id={{delivery_id}}", "id_pointer": "/0"},
            "verify": {"url": page, "body_pointer": ""},
            "retract": {"method": "DELETE", "url": page},
        }
        write = {"send": {"method": "PUT", "url": f"{page}?first=1", "id_pointer": "/name"}, **rest}
        amend = {"send": {"method": "PUT", "url": f"{url}/{{remote_id}}"}, **rest}
        return Settings(
            "http",
            "guide",
            "GUIDE",
            idempotent=True,
            resource_pattern="guests/*",
            config={"auth": {"header": "X-Api-Key", "prefix": "Token "}},
            operations={"page.write": write, "page.amend": amend},
        )

    @property
    def environ(self) -> Mapping[str, str]:
        return {"REVIEWROOM_TARGET_SECRET_GUIDE": TOKEN, "REVIEWROOM_TARGET_SECRET_GUIDE_HOSTS": self.remote.host}

    def payload(self, text: str) -> dict[str, Any]:
        return {"text": text}

    def behave(self, verb: Verb, behaviour: Behaviour) -> None:
        self.remote.behave(Verb.VERIFY if verb is Verb.READ else verb, behaviour)  # one and the same request

    def requests(self) -> int:
        return len(self.remote.asked)

    def effects(self) -> int:
        return self.remote.effects

    def change(self, remote_id: str) -> None:
        self.remote.pages[remote_id]["text"] = {"text": "somebody else's"}

    def remove(self, remote_id: str) -> None:
        del self.remote.pages[remote_id]

    def faults(self) -> Iterable[tuple[str, Settings]]:
        settings = self.settings
        yield "a token and no secret", replace(settings, secret="")
        for name, auth in {
            "no header": {},
            "two headers": {"header": "X-Api-Key: x\r\nX-Other"},
            "our header": {"header": "Idempotency-Key"},
            "a prefix with a line break": {"header": "Authorization", "prefix": "Bearer\n"},
        }.items():
            yield name, replace(settings, config={"auth": auth})
        send = {"method": "PUT", "url": "https://api.example/pages/{resource}"}
        yield "no id and no object", replace(settings, operations={"page.write": {"send": send}})
