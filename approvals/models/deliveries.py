"""Deliveries, the attempts at them, and what was observed at the remote."""

from django.db import models
from django.db.models import Q

from approvals.domain.states import DELIVERY, DeliveryState
from approvals.models.approvals import Approval
from approvals.models.drafts import Draft
from approvals.models.moves import StateModel, move, state_field
from approvals.models.rooms import ChannelConfig
from approvals.models.targets import Target


class Delivery(StateModel):
    """The one external effect of a consumed approval, or its undoing. Its id is the idempotency key at the remote.

    `settled_through` is the newest attempt whose outcome is known, so that a later refusal may speak for all.
    """

    class Kind(models.TextChoices):
        WRITE = "write"
        RETRACT = "retract"

    class Verification(models.TextChoices):
        NONE = ""
        EQUAL = "equal"
        DIFFERS = "differs"
        GONE = "gone"
        REPLACED = "replaced"
        IMPOSSIBLE = "impossible"

    state = state_field(DELIVERY)
    id = models.UUIDField(primary_key=True, editable=False)
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.WRITE)
    approval = models.ForeignKey(Approval, on_delete=models.PROTECT, related_name="deliveries")
    draft = models.ForeignKey(Draft, on_delete=models.PROTECT, related_name="deliveries")
    target = models.ForeignKey(Target, on_delete=models.PROTECT, related_name="deliveries")
    config = models.ForeignKey(ChannelConfig, on_delete=models.PROTECT, related_name="deliveries")
    remote_id = models.CharField(max_length=512, blank=True)
    verification = models.CharField(max_length=12, choices=Verification.choices, blank=True)
    reason = models.CharField(max_length=1000, blank=True)
    attempt_count = models.PositiveIntegerField(default=0)
    settled_through = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    next_check_at = models.DateTimeField(null=True, blank=True)
    check_count = models.PositiveIntegerField(default=0)
    held_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    delivered_at = models.DateTimeField(null=True, blank=True)

    send = move(DELIVERY, "send", state)
    deliver = move(DELIVERY, "deliver", state)
    refuse = move(DELIVERY, "refuse", state)
    wait = move(DELIVERY, "wait", state)
    lose = move(DELIVERY, "lose", state)
    cancel = move(DELIVERY, "cancel", state)
    retry = move(DELIVERY, "retry", state)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["approval"], condition=Q(kind="write"), name="one_write_per_approval"),
            models.UniqueConstraint(
                fields=["approval"],
                condition=Q(kind="retract") & ~Q(state=DeliveryState.DELIVERED.value),
                name="one_open_retraction_per_approval",
            ),
        ]
        indexes = [
            models.Index(
                fields=["next_attempt_at", "id"],
                name="delivery_due",
                condition=Q(next_attempt_at__isnull=False),
            ),
            models.Index(
                fields=["next_check_at", "id"],
                name="delivery_check_due",
                condition=Q(next_check_at__isnull=False),
            ),
        ]
        verbose_name_plural = "deliveries"

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}: {self.state}"


class Attempt(models.Model):
    """One try at a delivery. While it is not finished its outcome is open; finished, it never changes again.

    `prepared` is what the connector fetched before posting (a post-once link), stored before the first byte leaves.
    """

    class Outcome(models.TextChoices):
        DELIVERED = "delivered"
        REFUSED = "refused"
        NOT_SENT = "not_sent"
        UNKNOWN = "unknown"

    delivery = models.ForeignKey(Delivery, on_delete=models.PROTECT, related_name="attempts")
    number = models.PositiveIntegerField()
    epoch = models.PositiveBigIntegerField()
    token = models.UUIDField(unique=True)
    owner = models.CharField(max_length=120)
    lease_until = models.DateTimeField()
    prepared = models.JSONField(default=dict, blank=True)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=9, choices=Outcome.choices, blank=True)
    reason = models.CharField(max_length=1000, blank=True)
    evidence = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["delivery", "number"], name="one_attempt_per_delivery_and_number"),
            models.CheckConstraint(
                condition=Q(finished_at__isnull=True, outcome="") | (Q(finished_at__isnull=False) & ~Q(outcome="")),
                name="finished_attempt_has_an_outcome",
            ),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.delivery_id}: {self.outcome or 'open'}"


class Observation(models.Model):
    """What a look-up, a read-back, a late receipt or a person said: evidence beside the attempts. Append-only."""

    class Kind(models.TextChoices):
        LOOKUP = "lookup"
        VERIFY = "verify"
        LATE_RESULT = "late_result"
        RESOLUTION = "resolution"

    delivery = models.ForeignKey(Delivery, on_delete=models.PROTECT, related_name="observations")
    kind = models.CharField(max_length=11, choices=Kind.choices)
    attempt_number = models.PositiveIntegerField()
    answer = models.CharField(max_length=16)
    reason = models.CharField(max_length=1000, blank=True)
    evidence = models.JSONField(default=dict, blank=True)
    begun_at = models.DateTimeField()
    recorded_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["delivery", "kind", "id"], name="observation_of_delivery")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.delivery_id}: {self.answer}"
