"""What the API answers, as types: the OpenAPI document and the answers are made from the same ones."""

from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, PlainSerializer, WithJsonSchema

from approvals.services.audit import stamp

Moment = Annotated[
    datetime,
    PlainSerializer(stamp, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time", "description": "RFC 3339, always in UTC (Z)"}),
]
T = TypeVar("T")


class Document(BaseModel):
    """A closed JSON object."""

    model_config = ConfigDict(extra="forbid")


class Page(Document, Generic[T]):
    """Some items, and the cursor that asks for the next ones; null at the end."""

    items: list[T]
    next_cursor: str | None


class Me(Document):
    """Who the token speaks for."""

    name: str
    kind: str
    scopes: list[str]
    acts_for: list[str]


class PausedDocument(Document):
    """Since when and why nothing is sent."""

    at: Moment
    reason: str


class RoomDocument(Document):
    """A room, and what the caller is in it."""

    slug: str
    name: str
    roles: list[str]
    groups: list[str]
    paused: PausedDocument | None
    links: dict[str, str]


class RequirementDocument(Document):
    group: str
    minimum: int


class PolicyDocument(Document):
    """The rules a draft proposed now would be under."""

    required_approvals: int
    requirements: list[RequirementDocument]
    reject_threshold: int
    review_ttl_seconds: float
    approval_ttl_seconds: float
    dispatch: str
    dispatch_delay_seconds: float
    one_open_draft: bool
    duplicates: str


class OperationDocument(Document):
    """What may be proposed: the payload's JSON Schema (null: any object) and what the connector can do with it."""

    payload_schema: dict[str, Any] | None
    capabilities: list[str]


class ChannelDocument(Document):
    """One way out of a room. Its resource is fixed, or a pattern that a draft's resource has to fit."""

    slug: str
    name: str
    connector: str
    account: str
    resource: str | None
    resource_pattern: str | None
    concurrency: str
    idempotent: bool
    operations: dict[str, OperationDocument]
    policy: PolicyDocument
    paused: PausedDocument | None


class Limits(Document):
    """What a draft may be at most."""

    request_bytes: int
    canonical_bytes: int
    depth: int
    resource_bytes: int
    title_characters: int
    text_characters: int
    reason_characters: int
    not_before_days: int


class Channels(Document):
    items: list[ChannelDocument]
    limits: Limits


class TargetDocument(Document):
    channel: str
    connector: str
    account: str
    resource: str
    version: int


class ApprovalBrief(Document):
    """The draft's newest approval. `approvals_counted` is counted anew, with everybody's standing of now."""

    id: UUID
    state: str
    required_approvals: int
    approvals_counted: int
    expires_at: Moment


class DecisionDocument(Document):
    reviewer: str
    verdict: str
    comment: str
    version: int
    decided_at: Moment


class DeliveryDocument(Document):
    id: UUID
    state: str
    remote_id: str | None
    verification: str | None
    held_at: Moment | None


class DraftDocument(Document):
    """A draft as of now. `decisions` are those of its whole life, oldest first; `version` says on what."""

    id: int
    reference: str
    room: str
    target: TargetDocument
    operation: str
    title: str
    note: str
    context: Any
    state: str
    reason: str
    version: int
    digest: str
    payload: dict[str, Any] | None
    author: str
    acts_for: str | None
    not_before: Moment | None
    approval: ApprovalBrief | None
    decisions: list[DecisionDocument]
    dispatch_at: Moment | None
    delivery: DeliveryDocument | None
    retraction: DeliveryDocument | None
    corrects: int | None
    corrected_by: int | None
    links: dict[str, str]


class SavedDraft(DraftDocument):
    """The draft after a save; `changed` is false if no byte differed, which costs no approval."""

    changed: bool


class DecidedDraft(DraftDocument):
    """The draft after a decision; `recorded` is false if this very decision stood already."""

    decision: DecisionDocument
    recorded: bool


class Rehearsal(Document):
    """What a dry run found: the proposal would be accepted, with this digest. Nothing was kept."""

    dry_run: bool
    room: str
    target: TargetDocument
    operation: str
    digest: str
    canonical_bytes: int
    corrects: int | None
    duplicate_of: int | None
    warnings: list["WarningDocument"]


class WarningDocument(Document):
    """Something in the payload that the eye may miss."""

    pointer: str
    kind: str
    message: str
    count: int


class RevisionDocument(Document):
    draft: int
    number: int
    operation: str
    target: TargetDocument
    payload: dict[str, Any] | None
    digest: str
    canonical_bytes: int
    author: str
    acts_for: str | None
    created_at: Moment
    links: dict[str, str]


class EventDocument(Document):
    """One link of a draft's history."""

    seq: int
    at: Moment
    actor: str
    via: str
    action: str
    outcome: str
    reason: str
    details: dict[str, Any]
    correlation_id: str
    hash: str


class ApprovalDocument(Document):
    """The authority for one revision on one target version."""

    id: UUID
    state: str
    draft: int
    version: int
    digest: str
    target: TargetDocument
    target_version: int
    required_approvals: int
    approvals_counted: int
    requirements: list[RequirementDocument]
    decisions: list[DecisionDocument]
    opened_at: Moment
    approved_at: Moment | None
    not_before: Moment | None
    dispatch_at: Moment | None
    expires_at: Moment
    ended_at: Moment | None
    reason: str
    superseded_by: UUID | None
    links: dict[str, str]


class ClaimTarget(Document):
    connector: str
    account: str
    resource: str


class ClaimApproval(Document):
    approver: str
    decided_at: Moment
    in_good_standing: bool


class Claim(Document):
    """A fact about an approval for those who decide elsewhere, true when observed; no decision, no `valid`."""

    schema_version: str
    approval_id: UUID
    issuer: str
    state: str
    binding_digest: str
    draft_id: int
    revision: int
    target: ClaimTarget
    target_version: int
    required_approvals: int
    approvals: list[ClaimApproval]
    approvals_counted: int
    issued_at: Moment | None
    not_before: Moment | None
    expires_at: Moment
    observed_at: Moment
    max_age_seconds: int
    superseded_by: UUID | None


class Paused(Document):
    """Where a room or channel stands after pause or resume."""

    room: str
    channel: str | None
    paused: PausedDocument | None


class CurrentDocument(Document):
    """Where the draft that a conflict is about stands now; all null where there is none."""

    draft: int | None
    version: int | None
    digest: str | None
    state: str | None
    approval: UUID | None
    link: str | None


class Problem(BaseModel):
    """RFC 9457. `code` is stable; `pointer` (RFC 6901) names the field; every 409 carries `current`."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    pointer: str | None = None
    parameter: str | None = None
    line: int | None = None
    column: int | None = None
    reason: str | None = None
    errors: list[dict[str, str]] | None = None
    current: CurrentDocument | None = None
    successor: dict[str, Any] | None = None
    other: dict[str, Any] | None = None
