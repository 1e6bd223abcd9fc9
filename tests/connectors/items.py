"""A stand-in for a JSON API of items, and a channel of the `http` connector that uses all of it."""

import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self
from urllib.parse import parse_qs, urlsplit

from approvals.connectors.base import Capability, Settings
from approvals.connectors.conformance import Asked, Behaviour, Harness, Reply, StandIn, Verb
from approvals.connectors.http import HttpConnector

MARKER = "marker-secret-marker"


class Items(StandIn):
    """`POST /items` makes one, once per Idempotency-Key; `GET /items?operation_id=` finds it; the rest is by id."""

    def __init__(self, *, dedupes: bool) -> None:
        super().__init__()
        self.dedupes = dedupes
        self.items: dict[str, dict[str, Any]] = {}
        self.effects = 0
        self._numbers = itertools.count(41)
        self._keys: dict[str, str] = {}  # Idempotency-Key to item

    def verb_of(self, asked: Asked) -> Verb | None:
        if asked.method in ("POST", "PUT"):
            return Verb.SEND
        if asked.method == "DELETE":
            return Verb.RETRACT
        return Verb.LOOKUP if "operation_id=" in asked.path else Verb.VERIFY

    def answer(self, asked: Asked) -> Reply:
        item_id = urlsplit(asked.path).path.removeprefix("/items").strip("/")
        if asked.method == "POST":
            return self._create(asked)
        if asked.method == "GET" and not item_id:
            return self._list(parse_qs(urlsplit(asked.path).query)["operation_id"][0])
        if item_id not in self.items:
            return Reply(404, {"error": "no such item"})
        if asked.method == "PUT":
            return self._replace(item_id, asked)
        if asked.method == "DELETE":
            del self.items[item_id]
            return Reply(204)
        return Reply(200, {"id": item_id, "payload": self.items[item_id]["payload"]})

    def _create(self, asked: Asked) -> Reply:
        key = asked.headers["idempotency-key"]
        if self.dedupes and key in self._keys:
            return Reply(200, {"id": self._keys[key]})
        item_id = str(next(self._numbers))
        self.effects += 1
        self._keys[key] = item_id
        self.items[item_id] = {"operation": key, "payload": json.loads(asked.body)}
        return Reply(201, {"id": item_id})

    def _replace(self, item_id: str, asked: Asked) -> Reply:
        self.effects += 1
        self.items[item_id]["payload"] = json.loads(asked.body)
        return Reply(200, {"id": item_id})

    def _list(self, operation: str) -> Reply:
        listed = [{"id": key, "operation": item["operation"]} for key, item in self.items.items()]
        return Reply(200, {"items": [item for item in listed if item["operation"] == operation]})


class ItemsHarness(Harness):
    """A channel that declares everything, at a receiver that dedupes."""

    connector_class = HttpConnector
    operation = "item.create"
    correcting_operation = "item.replace"
    resource = "items"
    declares = frozenset(Capability) - {Capability.CORRECT}
    dedupes: ClassVar[bool] = True
    reads = True

    def __enter__(self) -> Self:
        self.remote = Items(dedupes=self.dedupes)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remote.__exit__(*exc_info)

    @property
    def settings(self) -> Settings:
        url = f"{self.remote.url}/items"
        one = f"{url}/{{remote_id}}"
        lookup = {
            "url": f"{url}?operation_id={{delivery_id}}",
            "id_pointer": "/items/0/id",
            "match_pointer": "/items/0/operation",
        }
        rest = {
            "verify": {"url": one, "body_pointer": "/payload"},
            "retract": {"method": "DELETE", "url": one},
        }
        create = {"send": {"method": "POST", "url": url, "id_pointer": "/id"}, "lookup": lookup, **rest}
        correct = {"send": {"method": "PUT", "url": one, "id_pointer": "/id"}, **rest}
        return Settings(
            "http",
            "shop",
            "HOOK",
            idempotent=self.dedupes,
            concurrency="append",
            operations={"item.create": create, "item.replace": correct},
        )

    @property
    def environ(self) -> Mapping[str, str]:
        return {"REVIEWROOM_TARGET_SECRET_HOOK": MARKER, "REVIEWROOM_TARGET_SECRET_HOOK_HOSTS": self.remote.host}

    def payload(self, text: str) -> dict[str, Any]:
        return {"name": text, "price": 1.5, "tags": ["é", "b"], "more": {"z": None, "a": True}}

    def behave(self, verb: Verb, behaviour: Behaviour) -> None:
        self.remote.behave(Verb.VERIFY if verb is Verb.READ else verb, behaviour)  # one and the same request

    def requests(self) -> int:
        return len(self.remote.asked)

    def effects(self) -> int:
        return self.remote.effects

    def change(self, remote_id: str) -> None:
        self.remote.items[remote_id]["payload"]["name"] += "!"

    def remove(self, remote_id: str) -> None:
        del self.remote.items[remote_id]

    def faults(self) -> Iterable[tuple[str, Settings]]:
        send = self.settings.operations["item.create"]["send"]
        for name, change in {"url": "ftp://api.example/", "method": "GET", "id_pointer": "id"}.items():
            operations = {"item.create": {"send": {**send, name: change}}}
            yield f"send.{name} = {change}", replace(self.settings, operations=operations)
        lookup = {"url": "https://api.example/items", "id_pointer": "/0"}
        yield (
            "a look-up for nothing",
            replace(self.settings, operations={"item.create": {"send": send, "lookup": lookup}}),
        )


class BareHarness(ItemsHarness):
    """A channel that can only write, at a receiver that dedupes nothing and gets no secret."""

    correcting_operation = ""
    declares = frozenset()
    dedupes = False
    reads = False

    @property
    def settings(self) -> Settings:
        whole = super().settings
        send = {"send": whole.operations["item.create"]["send"]}
        return replace(whole, secret="", operations={"item.create": send})

    @property
    def environ(self) -> Mapping[str, str]:
        return {}
