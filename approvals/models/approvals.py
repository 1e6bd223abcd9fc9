"""Approvals and the decisions on them."""

from uuid import UUID, uuid4, uuid5

from django.conf import settings
from django.db import models
from django.db.models import Q

from approvals.domain.gate import Ground
from approvals.domain.gate import Verdict as GateVerdict
from approvals.domain.policy import Policy
from approvals.domain.states import APPROVAL, LIVE_APPROVAL, ApprovalState
from approvals.models.drafts import Draft, Revision
from approvals.models.moves import StateModel, move, state_field
from approvals.models.rooms import ChannelConfig
from approvals.models.targets import Target

_LIVE = tuple(state.value for state in LIVE_APPROVAL)


class Approval(StateModel):
    """The authority for one revision on one target version, under one snapshot of the policy.

    `dispatch_at` is when sending may begin; empty while pending, and under manual dispatch until somebody presses.
    """

    state = state_field(APPROVAL)
    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    draft = models.ForeignKey(Draft, on_delete=models.PROTECT, related_name="approvals")
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="approvals")
    target = models.ForeignKey(Target, on_delete=models.PROTECT, related_name="approvals")
    config = models.ForeignKey(ChannelConfig, on_delete=models.PROTECT, related_name="approvals")
    version = models.PositiveIntegerField()
    digest = models.CharField(max_length=71)
    target_version = models.PositiveIntegerField()
    rendering_digest = models.CharField(max_length=71)
    policy = models.JSONField()
    required_approvals = models.PositiveSmallIntegerField()
    decision_count = models.PositiveIntegerField(default=0)
    opened_at = models.DateTimeField()
    approved_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField()
    dispatch_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    end_reason = models.CharField(max_length=1000, blank=True)
    superseded_by = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="supersedes"
    )
    delivery = models.OneToOneField("Delivery", on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    approve = move(APPROVAL, "approve", state)
    consume = move(APPROVAL, "consume", state)
    reject = move(APPROVAL, "reject", state)
    supersede = move(APPROVAL, "supersede", state)
    revoke = move(APPROVAL, "revoke", state)
    expire = move(APPROVAL, "expire", state)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["draft"], condition=Q(state__in=_LIVE), name="one_live_approval_per_draft"),
            models.CheckConstraint(
                condition=~Q(state=ApprovalState.CONSUMED.value) | Q(delivery__isnull=False),
                name="consumed_approval_has_a_delivery",
            ),
        ]
        indexes = [
            models.Index(
                fields=["dispatch_at", "draft"],
                name="approval_due",
                condition=Q(state=ApprovalState.APPROVED.value, dispatch_at__isnull=False),
            ),
            # SQLite uses a partial index only for a query that says its condition in the same form: an OR, no IN
            models.Index(
                fields=["expires_at", "id"],
                name="approval_expiry",
                condition=Q(state=ApprovalState.PENDING.value) | Q(state=ApprovalState.APPROVED.value),
            ),
        ]

    def __str__(self) -> str:
        return f"approval {self.pk} of {self.draft.reference}: {self.state}"

    @property
    def rules(self) -> Policy:
        """Gives the policy as it was when the approval was opened."""
        return Policy.from_snapshot(self.policy)

    @property
    def ground(self) -> Ground:
        return Ground(self.version, self.digest, self.target_version, self.config_id, self.rendering_digest)

    @property
    def is_live(self) -> bool:
        return self.state in LIVE_APPROVAL

    @property
    def write_id(self) -> UUID:
        """Gives the id its write has or will have, so that a row lost in a restore comes back the same."""
        return uuid5(self.id, "write")


class Decision(models.Model):
    """One reviewer's recorded verdict on one approval; append-only, the newest per reviewer counts."""

    class Verdict(models.TextChoices):
        APPROVE = GateVerdict.APPROVE.value
        REJECT = GateVerdict.REJECT.value
        REQUEST_CHANGES = GateVerdict.REQUEST_CHANGES.value
        TAKEN_BACK = GateVerdict.TAKEN_BACK.value

    approval = models.ForeignKey(Approval, on_delete=models.PROTECT, related_name="decisions")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="decisions")
    seq = models.PositiveIntegerField()
    verdict = models.CharField(max_length=16, choices=Verdict.choices)
    comment = models.TextField(blank=True)
    version = models.PositiveIntegerField()
    digest = models.CharField(max_length=71)
    via = models.CharField(max_length=16)
    shown_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["approval", "reviewer", "seq"], name="one_decision_per_approval_reviewer_seq"
            )
        ]

    def __str__(self) -> str:
        return f"{self.reviewer}: {self.verdict} on {self.approval_id}"
