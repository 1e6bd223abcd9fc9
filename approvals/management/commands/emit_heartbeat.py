"""`emit_heartbeat`: puts the signed heartbeat of this cadence slot into the outbox."""

from approvals.management.worker_command import WorkerCommand
from approvals.workers import heartbeat


class Command(WorkerCommand):
    """One beat of `workers.heartbeat`, or many."""

    help = (
        "Puts a signed heartbeat into the outbox, once per REVIEWROOM_HEARTBEAT_SECONDS: how many events of each class "
        "there were, and where the audit chains stand. Twice in one slot does nothing."
    )
    beat = heartbeat
    every_seconds = heartbeat.LOOKS_EVERY_SECONDS
    waiting = ("missing_heartbeats",)
