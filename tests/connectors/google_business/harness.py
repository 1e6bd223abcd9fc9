"""What the conformance suite, and our own tests, need of the stand-in."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Self

from approvals.connectors.base import Capability, Settings
from approvals.connectors.conformance import Behaviour, Harness, Verb
from approvals.connectors.google_business import GoogleBusinessConnector
from tests.connectors.google_business.standin import ACCOUNT, RESOURCE, Storefront, TokenEndpoint


class GoogleHarness(Harness):
    """A channel that gets in with a refresh token."""

    connector_class = GoogleBusinessConnector
    operation = "reply.upsert"
    correcting_operation = "reply.upsert"
    resource = RESOURCE
    declares = frozenset(Capability) - {Capability.CORRECT}
    reads = True

    def __enter__(self) -> Self:
        self.tokens = TokenEndpoint()
        self.storefront = Storefront(self.tokens)
        self.secret = self.tokens.authorized_user
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.storefront.__exit__(*exc_info)
        self.tokens.__exit__(*exc_info)

    @property
    def settings(self) -> Settings:
        return Settings(
            "google_business",
            ACCOUNT,
            "GOOGLE",
            resource_pattern="locations/*/reviews/*",
            config={"base_url": self.storefront.base_url, "token_url": self.tokens.token_url},
            operations={"reply.upsert": {"schema": {"type": "object", "required": ["comment"]}}},
        )

    @property
    def environ(self) -> Mapping[str, str]:
        hosts = f"{self.storefront.host}, {self.tokens.host}"
        return {"REVIEWROOM_TARGET_SECRET_GOOGLE": self.secret, "REVIEWROOM_TARGET_SECRET_GOOGLE_HOSTS": hosts}

    @property
    def markers(self) -> tuple[str, ...]:
        return (self.secret, *self.tokens.markers)

    def payload(self, text: str) -> dict[str, Any]:
        return {"comment": f"Thank you, {text}.\nWe mended the lift: é."}

    def behave(self, verb: Verb, behaviour: Behaviour) -> None:
        self.storefront.behave(verb, behaviour)

    def requests(self) -> int:
        return len(self.storefront.asked) + len(self.tokens.asked)

    def effects(self) -> int:
        return self.storefront.effects

    def change(self, remote_id: str) -> None:
        self.storefront.write("Somebody else wrote this.")

    def remove(self, remote_id: str) -> None:
        self.storefront.reply = None

    def faults(self) -> Iterable[tuple[str, Settings]]:
        whole = self.settings
        yield "no secret", replace(whole, secret="")
        yield "an account with its prefix", replace(whole, account=f"accounts/{ACCOUNT}")
        yield "an account that is a dot segment", replace(whole, account="..")
        yield "many objects at one target", replace(whole, concurrency="append")
        yield "a pattern of something else", replace(whole, resource_pattern="locations/*")
        yield "a resource of something else", replace(whole, resource="locations/1/posts/2", resource_pattern="")
        yield "neither resource nor pattern", replace(whole, resource_pattern="")
        yield "another operation", replace(whole, operations={"reply.create": {}})
        yield "one operation too many", replace(whole, operations={**whole.operations, "reply.create": {}})
        for key, url in {
            "base_url": "http://api.example/v4",  # a token in the clear
            "token_url": "https://oauth2.example/token?key=1",
        }.items():
            yield f"{key} = {url}", replace(whole, config={**whole.config, key: url})
        yield "a placeholder", replace(whole, config={"base_url": "https://api.example/{account}"})
        yield "no text", replace(whole, config={"base_url": 4})
