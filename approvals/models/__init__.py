"""Tables, constraints and walls. No HTTP, no rules beyond what the database can hold."""

from approvals.models.approvals import Approval, Decision
from approvals.models.deliveries import Attempt, Delivery, Observation
from approvals.models.drafts import Draft, Exclusion, Revision
from approvals.models.heartbeats import ChainCheckpoint, Heartbeat
from approvals.models.people import ApiToken, User
from approvals.models.records import (
    AuditChain,
    AuditEvent,
    IdempotencyKey,
    Installation,
    OutboxEvent,
    SinkState,
)
from approvals.models.rooms import Channel, ChannelConfig, Membership, Room
from approvals.models.targets import DispatchClaim, Target, TargetReading

__all__ = [
    "ApiToken",
    "Approval",
    "Attempt",
    "AuditChain",
    "AuditEvent",
    "ChainCheckpoint",
    "Channel",
    "ChannelConfig",
    "Decision",
    "Delivery",
    "DispatchClaim",
    "Draft",
    "Exclusion",
    "Heartbeat",
    "IdempotencyKey",
    "Installation",
    "Membership",
    "Observation",
    "OutboxEvent",
    "Revision",
    "Room",
    "SinkState",
    "Target",
    "TargetReading",
    "User",
]
