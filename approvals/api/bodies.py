"""What the API takes, as types: closed and strict, so nothing is guessed and nothing is ignored."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

_PAYLOAD = Field(description="What goes out, as a JSON object; hashed and sent exactly as canonical JSON (RFC 8785).")
_CONTEXT = Field(None, description="What reviewers should know (any JSON); shown apart, never hashed, never sent.")


def _named(value: Any) -> Any:
    """Lets a number or a reference through, with one fault for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | str | None) or value == "":
        raise PydanticCustomError("draft_name", "Name a draft by its number or its reference, like RR-1042")
    return value


DraftName = Annotated[
    Any,
    BeforeValidator(_named),
    WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "string", "minLength": 1}, {"type": "null"}]}),
]


class Body(BaseModel):
    """A closed JSON object whose values are not converted."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ProposeBody(Body):
    """An action to bring before a room."""

    room: str
    channel: str
    operation: str
    payload: dict[str, Any] = _PAYLOAD
    resource: str | None = None
    title: str | None = None
    note: str | None = None
    context: Any = _CONTEXT
    submit: bool = True
    acts_for: str | None = Field(None, description="Agents only: the person this is for, if not the token's own.")
    corrects: DraftName = Field(
        None, description="The published draft that this one replaces, by its number or reference."
    )
    not_before: str | None = Field(
        None,
        description="Not sent before this time: RFC 3339 with an offset, within a year.",
        json_schema_extra={"format": "date-time"},
    )


class ReviseBody(Body):
    """What should differ from the newest revision; what is left out stays."""

    payload: dict[str, Any] | None = None
    operation: str | None = None
    channel: str | None = None
    resource: str | None = None
    title: str | None = None
    note: str | None = None
    context: Any = _CONTEXT
    submit: bool = True


class SubmitBody(Body):
    """Nothing, or the version that should be submitted."""

    version: int | None = None


class DecideBody(Body):
    """A verdict on exactly what was shown: the approval is in the address, version and digest are here."""

    verdict: Literal["approve", "reject", "request_changes"]
    version: int
    digest: str
    comment: str = ""


class ReasonBody(Body):
    """Why; it is kept in the history."""

    reason: str


class EmptyBody(Body):
    """Nothing."""


class ResolveBody(Body):
    """What a person found at the remote."""

    outcome: Literal["delivered", "not_delivered"]
    evidence: str
    remote_id: str | None = None
