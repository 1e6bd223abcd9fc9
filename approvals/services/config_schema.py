"""The shape of a configuration file. Unknown keys are refused; business rules are checked where they are applied."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from approvals.domain import pointer as pointers
from approvals.domain.errors import InvalidPayload
from approvals.models import Membership

Name = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@+-]{0,149}$")
Slug = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")
Role = Literal["proposer", "reviewer", "operator", "viewer"]
assert set(Role.__args__) == set(Membership.ROLES)  # type: ignore[attr-defined]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class UserSpec(Strict):
    name: str = Name
    kind: Literal["person", "agent"] = "person"
    email: str = Field(default="", max_length=254)
    acts_for: list[str] = []

    @model_validator(mode="after")
    def _agents_act_for_somebody(self) -> "UserSpec":
        if (self.kind == "agent") != bool(self.acts_for):
            raise ValueError("an agent names the persons it acts for, and only an agent does")
        return self


class MemberSpec(Strict):
    user: str
    roles: list[Role] = []
    groups: list[str] = []


class ChannelSpec(Strict):
    slug: str = Slug
    name: str = Field(default="", max_length=120)
    connector: str
    account: str = Field(min_length=1, max_length=200)
    resource: str = Field(default="", max_length=512)
    resource_pattern: str = Field(default="", max_length=512)
    concurrency: Literal["exclusive", "append"] = "exclusive"
    idempotent: bool = False
    policy: dict[str, Any] = {}
    secret: str = Field(default="", max_length=64)
    config: dict[str, Any] = {}
    operations: dict[str, dict[str, Any]] = {}

    @model_validator(mode="after")
    def _one_kind_of_resource(self) -> "ChannelSpec":
        if bool(self.resource) == bool(self.resource_pattern):
            raise ValueError("a channel has either a resource or a resource_pattern")
        if not self.operations:
            raise ValueError("a channel declares at least one operation")
        return self


class RoomSpec(Strict):
    slug: str = Slug
    name: str = Field(default="", max_length=120)
    policy: dict[str, Any] = {}
    members: list[MemberSpec] = []
    channels: list[ChannelSpec] = []


class ConfigSpec(Strict):
    users: list[UserSpec] = []
    rooms: list[RoomSpec] = []


def read(document: dict[str, Any]) -> ConfigSpec:
    """Gives the checked configuration. Raises InvalidPayload whose pointer names the first wrong key."""
    try:
        return ConfigSpec.model_validate(document)
    except ValidationError as exc:
        fault = exc.errors(include_url=False, include_context=False)[0]
        raise InvalidPayload(f"{_sentence(fault['type'], fault['msg'])}", pointer=pointers.build(fault["loc"])) from exc


def _sentence(kind: str, message: str) -> str:
    if kind == "extra_forbidden":
        return "There is no such key. Remove it or correct its spelling."
    return f"{message.removeprefix('Value error, ')}."
