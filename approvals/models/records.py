"""The record: outbox, audit chains, Idempotency-Keys, and what this installation knows about itself."""

from django.conf import settings
from django.db import models
from django.db.models import Q


class OutboxEvent(models.Model):
    """What the audit sink must be told; inserted in the mutation's transaction, drained later, sent as stored."""

    class EventClass(models.TextChoices):
        ISSUANCE = "issuance"
        USE = "use"
        SUPERSESSION = "supersession"
        REVOCATION = "revocation"
        HEARTBEAT = "heartbeat"

    event_id = models.UUIDField(unique=True)
    event_class = models.CharField(max_length=12, choices=EventClass.choices)
    approval = models.ForeignKey(
        "Approval", on_delete=models.PROTECT, null=True, blank=True, related_name="outbox_events"
    )
    payload = models.TextField()
    created_at = models.DateTimeField()
    drained_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField()
    last_error = models.CharField(max_length=500, blank=True)
    parked_at = models.DateTimeField(null=True, blank=True)
    claimed_by = models.CharField(max_length=120, blank=True)
    claimed_until = models.DateTimeField(null=True, blank=True)
    counted_in = models.ForeignKey("Heartbeat", on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(event_class="heartbeat", approval__isnull=True)
                | (~Q(event_class="heartbeat") & Q(approval__isnull=False)),
                name="only_a_heartbeat_has_no_approval",
            )
        ]
        indexes = [
            models.Index(fields=["approval", "id"], name="outbox_undrained", condition=Q(drained_at__isnull=True)),
            models.Index(fields=["id"], name="outbox_due", condition=Q(drained_at__isnull=True)),
            models.Index(fields=["approval", "id"], name="outbox_parked", condition=Q(parked_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.event_class} {self.event_id}"


class SinkState(models.Model):
    """The one row about the audit sink as a whole, made when there is something to say.

    `closed_at` is since when it takes nothing from us (401, 403); `probe_at` when one event may knock again. On SQLite
    `drained_by` is who drains until `drained_until`: one process at a time. PostgreSQL needs no such lease.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_reason = models.CharField(max_length=500, blank=True)
    probe_at = models.DateTimeField(null=True, blank=True)
    drained_by = models.CharField(max_length=120, blank=True)
    drained_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="one_sink_state")]

    def __str__(self) -> str:
        return "closed" if self.closed_at else "open"


class AuditChain(models.Model):
    """The head of one hash chain; locked to append. Keys: `draft:<id>`, `room:<id>`, `system`."""

    key = models.CharField(max_length=40, unique=True)
    seq = models.PositiveBigIntegerField(default=0)
    head = models.CharField(max_length=64, default="0" * 64)

    def __str__(self) -> str:
        return f"{self.key} at {self.seq}"


class AuditEvent(models.Model):
    """One link. `body` is canonical JSON that holds everything, `prev_hash` included; `hash` is its SHA-256.

    The other columns repeat parts of the body so that they can be searched; verification compares them.
    """

    chain = models.ForeignKey(AuditChain, on_delete=models.PROTECT, related_name="events")
    seq = models.PositiveBigIntegerField()
    at = models.DateTimeField()
    actor = models.CharField(max_length=180)
    action = models.CharField(max_length=64)
    outcome = models.CharField(max_length=8)
    draft = models.ForeignKey("Draft", on_delete=models.PROTECT, null=True, blank=True, related_name="audit_events")
    body = models.TextField()
    prev_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chain", "seq"], name="one_event_per_chain_and_seq")]
        indexes = [
            models.Index(fields=["draft", "id"], name="audit_of_draft"),
            models.Index(fields=["actor", "outcome", "at"], name="audit_actor_outcome"),
        ]

    def __str__(self) -> str:
        return f"{self.chain_id}/{self.seq} {self.action}"


class IdempotencyKey(models.Model):
    """The first use of an Idempotency-Key: written with the effect it stands for, kept 24 hours."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    key = models.CharField(max_length=200)
    request_hash = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(default=0)
    subject = models.CharField(max_length=80, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="one_idempotency_key_per_user")]

    def __str__(self) -> str:
        return f"{self.key} of {self.user_id}"


class Installation(models.Model):
    """The one row that says which installation this database belongs to and which walls stand in it.

    `adopted_at` is when it was last restored from a copy: what was approved before may have been sent since the copy.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    instance_id = models.CharField(max_length=64)
    walls_digest = models.CharField(max_length=64, blank=True)
    adopted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="one_installation")]

    def __str__(self) -> str:
        return self.instance_id
