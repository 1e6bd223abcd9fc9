"""Targets, and the one dispatch claim each of them has."""

from django.db import models
from django.db.models import Q

from approvals.domain.states import DISPATCH_CLAIM, ClaimState
from approvals.models.moves import StateModel, move, state_field


class Target(models.Model):
    """Where bytes go: one row per (connector, account, resource), shared by all rooms.

    `version` grows by one with every write to an exclusive target, so an approval given before it no longer covers.
    """

    connector = models.CharField(max_length=64)
    account = models.CharField(max_length=200)
    resource = models.CharField(max_length=512)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["connector", "account", "resource"], name="one_target_per_place")
        ]

    def __str__(self) -> str:
        return f"{self.connector}:{self.account}:{self.resource}"


class TargetReading(models.Model):
    """What an exclusive target held when it was last read, for reviewers; evidence of nothing, overwritten each time.

    `version` is the target's version of then: an older one says that the reading may be out of date.
    """

    target = models.OneToOneField(Target, on_delete=models.CASCADE, related_name="reading")
    version = models.PositiveIntegerField(default=0)
    known = models.BooleanField(default=False)
    content = models.JSONField(null=True, blank=True)
    reason = models.CharField(max_length=1000, blank=True)
    read_at = models.DateTimeField(null=True, blank=True)
    next_read_at = models.DateTimeField(null=True, blank=True)
    failure_count = models.PositiveIntegerField(default=0)

    class Meta:
        indexes = [
            models.Index(fields=["next_read_at"], name="target_reading_due", condition=Q(next_read_at__isnull=False))
        ]

    def __str__(self) -> str:
        return f"reading of {self.target}"


class DispatchClaim(StateModel):
    """Who may write to a target now. The row is made with its target and never goes away."""

    state = state_field(DISPATCH_CLAIM)
    target = models.OneToOneField(Target, on_delete=models.PROTECT, related_name="dispatch_claim")
    epoch = models.PositiveBigIntegerField(default=0)
    token = models.UUIDField(null=True, blank=True)
    owner = models.CharField(max_length=120, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    approval = models.ForeignKey(
        "Approval", on_delete=models.PROTECT, null=True, blank=True, related_name="dispatch_claims"
    )
    delivery_id = models.UUIDField(null=True, blank=True)
    changed_at = models.DateTimeField(null=True, blank=True)

    reserve = move(DISPATCH_CLAIM, "reserve", state)
    release = move(DISPATCH_CLAIM, "release", state)
    send = move(DISPATCH_CLAIM, "send", state)
    settle = move(DISPATCH_CLAIM, "settle", state)
    lose = move(DISPATCH_CLAIM, "lose", state)
    clear = move(DISPATCH_CLAIM, "clear", state)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="held_dispatch_claim_names_its_holder",
                condition=Q(state=ClaimState.IDLE.value)
                | (Q(token__isnull=False) & Q(lease_until__isnull=False) & ~Q(owner="") & Q(delivery_id__isnull=False)),
            )
        ]

    def __str__(self) -> str:
        return f"dispatch claim of {self.target}: {self.state}"
