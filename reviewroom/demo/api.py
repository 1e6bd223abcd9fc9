"""A caller of the HTTP API, as an agent or a script would be one: standard library only."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

SECONDS = 30


@dataclass(frozen=True, slots=True)
class Answer:
    """What the API said."""

    status: int
    body: Any
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Caller:
    """One user with a bearer token."""

    name: str
    base_url: str
    token: str

    def get(self, path: str) -> Answer:
        return self._call("GET", path)

    def post(self, path: str, body: dict[str, Any], **headers: str) -> Answer:
        return self._call("POST", path, body, headers)

    def put(self, path: str, body: dict[str, Any], **headers: str) -> Answer:
        return self._call("PUT", path, body, headers)

    def decide(self, draft: dict[str, Any], verdict: str = "approve") -> Answer:
        """Decides on exactly what `draft` shows: its approval, version and digest."""
        named = {"verdict": verdict, "version": draft["version"], "digest": draft["digest"]}
        return self.post(f"/v1/approvals/{draft['approval']['id']}/decisions", named)

    def _call(
        self, method: str, path: str, body: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """Makes one request; `If_Match` stands for the header If-Match."""
        named = {name.replace("_", "-"): value for name, value in (headers or {}).items()}
        data = json.dumps(body).encode() if body is not None else None
        always = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.base_url + path, data, always | named, method=method)
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as response:
                return Answer(response.status, json.load(response), dict(response.headers))
        except urllib.error.HTTPError as refused:
            with refused:
                return Answer(refused.code, json.load(refused), dict(refused.headers))
