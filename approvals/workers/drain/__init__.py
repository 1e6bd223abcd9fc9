"""Drain: hand the outbox to the audit sink, at least once, in order per approval. Never inside a transaction.

Two halves, so that neither waits for the other: the caller's thread takes events and notes what became of them, a
thread with an event loop posts. The next events are taken, and the last acknowledged, while others are on the way.
"""

from approvals.workers.drain.beat import COMMAND, LEASE, run

__all__ = ["COMMAND", "LEASE", "run"]
