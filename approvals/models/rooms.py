"""Rooms, their members, their channels, and each channel's immutable numbered configurations."""

from django.conf import settings
from django.db import models

from approvals.domain.policy import Policy


class Room(models.Model):
    """A team's review space and the tenancy boundary: strangers get 404. `policy` holds raw configured values."""

    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=120)
    policy = models.JSONField(default=dict, blank=True)
    policy_changed_at = models.DateTimeField(null=True, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_reason = models.CharField(max_length=500, blank=True)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """What one user may do in one room."""

    ROLES = ("proposer", "reviewer", "operator", "viewer")

    room = models.ForeignKey(Room, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memberships")
    is_proposer = models.BooleanField(default=False)
    is_reviewer = models.BooleanField(default=False)
    is_operator = models.BooleanField(default=False)
    is_viewer = models.BooleanField(default=False)
    groups = models.JSONField(default=list, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["room", "user"], name="one_membership_per_room_and_user")]

    def __str__(self) -> str:
        return f"{self.user} in {self.room}: {', '.join(self.roles) or 'no roles'}"

    @property
    def roles(self) -> tuple[str, ...]:
        return tuple(role for role in self.ROLES if getattr(self, f"is_{role}"))


class Channel(models.Model):
    """One configured way out of a room. Connector and concurrency are fixed for its life; the rest is in its config."""

    class Concurrency(models.TextChoices):
        EXCLUSIVE = "exclusive"
        APPEND = "append"

    room = models.ForeignKey(Room, on_delete=models.PROTECT, related_name="channels")
    slug = models.SlugField(max_length=64)
    name = models.CharField(max_length=120)
    connector = models.CharField(max_length=64)
    concurrency = models.CharField(max_length=9, choices=Concurrency.choices, default=Concurrency.EXCLUSIVE)
    policy = models.JSONField(default=dict, blank=True)
    config = models.ForeignKey(
        "ChannelConfig", on_delete=models.PROTECT, null=True, blank=True, related_name="+", editable=False
    )
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_reason = models.CharField(max_length=500, blank=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["room", "slug"], name="one_channel_per_room_and_slug")]

    def __str__(self) -> str:
        return f"{self.room.slug}/{self.slug}"

    @property
    def is_exclusive(self) -> bool:
        return self.concurrency == self.Concurrency.EXCLUSIVE

    def effective_policy(self) -> Policy:
        """Gives the room's policy with this channel's values on top."""
        return Policy().overridden(self.room.policy).overridden(self.policy)


class ChannelConfig(models.Model):
    """One immutable state of a channel's configuration; approvals and deliveries point at theirs."""

    channel = models.ForeignKey(Channel, on_delete=models.PROTECT, related_name="configs")
    number = models.PositiveIntegerField()
    account = models.CharField(max_length=200)
    resource = models.CharField(max_length=512, blank=True)
    resource_pattern = models.CharField(max_length=512, blank=True)
    idempotent = models.BooleanField(default=False)
    secret = models.CharField(max_length=64, blank=True)
    config = models.JSONField(default=dict)
    operations = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["channel", "number"], name="one_config_per_channel_and_number")]

    def __str__(self) -> str:
        return f"{self.channel} config {self.number}"
