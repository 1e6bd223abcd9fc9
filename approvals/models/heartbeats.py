"""Heartbeats and what they told the audit sink: one row per heartbeat, and how far each chain is checkpointed."""

from django.db import models

from approvals.models.records import AuditChain


class Heartbeat(models.Model):
    """One heartbeat that was put into the outbox; never changes, and stays when its outbox row is purged.

    `slot_at` is when its cadence slot began. One slot has several parts where one event cannot hold everything;
    `has_more` says that another part follows. `digest` is that of the signed statement, `previous` the one before.
    """

    number = models.PositiveBigIntegerField(primary_key=True)
    slot_at = models.DateTimeField()
    part = models.PositiveIntegerField(default=0)
    has_more = models.BooleanField(default=False)
    event_id = models.UUIDField(unique=True)
    created_at = models.DateTimeField()
    digest = models.CharField(max_length=71)
    previous = models.CharField(max_length=71, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["slot_at", "part"], name="one_heartbeat_per_slot_and_part")]

    def __str__(self) -> str:
        return f"heartbeat {self.number}"


class ChainCheckpoint(models.Model):
    """The newest head of a chain that a heartbeat told; apart from the chain, so that no writer waits for it."""

    chain = models.OneToOneField(AuditChain, on_delete=models.PROTECT, primary_key=True, related_name="checkpoint")
    seq = models.PositiveBigIntegerField()
    head = models.CharField(max_length=64)
    heartbeat = models.ForeignKey(Heartbeat, on_delete=models.PROTECT, related_name="+", db_index=False)

    def __str__(self) -> str:
        return f"{self.chain_id} at {self.seq}"
