"""Idempotency-Keys: the row is written with the effect it stands for, so a rolled-back first call leaves none."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, OperationalError, connection, transaction

from approvals.domain.errors import IdempotencyInProgress, IdempotencyMismatch
from approvals.models import IdempotencyKey

KEPT_FOR = timedelta(hours=24)
WAIT = "2s"
"""How long a second request waits for the first on PostgreSQL; on SQLite writers queue anyway."""
LOCK_TIMEOUT_SQLSTATE = "55P03"


@dataclass(frozen=True, slots=True)
class Key:
    """One Idempotency-Key as received: whose, which, and the SHA-256 of method, path and raw body."""

    user_id: int
    key: str
    request_hash: str
    status: int = 200


class Replay(Exception):
    """Not an error: the first request with this key succeeded, and this is what it was about."""

    def __init__(self, subject: str, status: int) -> None:
        super().__init__(subject)
        self.subject = subject
        self.status = status


def take(key: Key, *, now: datetime) -> IdempotencyKey:
    """Claims the key for this transaction. Raises Replay, IdempotencyMismatch or IdempotencyInProgress."""
    IdempotencyKey.objects.filter(user_id=key.user_id, key=key.key, created_at__lte=now - KEPT_FOR).delete()
    try:
        with transaction.atomic():
            return _insert(key, now)
    except IntegrityError:
        first = IdempotencyKey.objects.get(user_id=key.user_id, key=key.key)
    if first.request_hash != key.request_hash:
        raise IdempotencyMismatch()
    raise Replay(first.subject, first.status)


def fill(stored: IdempotencyKey, *, subject: str) -> None:
    """Notes what the request was about, in the same transaction."""
    IdempotencyKey.objects.filter(pk=stored.pk).update(subject=subject)


def _insert(key: Key, now: datetime) -> IdempotencyKey:
    values = {"request_hash": key.request_hash, "status": key.status, "created_at": now}
    if connection.vendor != "postgresql":
        return IdempotencyKey.objects.create(user_id=key.user_id, key=key.key, **values)
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = '{WAIT}'")
        try:
            stored = IdempotencyKey.objects.create(user_id=key.user_id, key=key.key, **values)
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", None) == LOCK_TIMEOUT_SQLSTATE:
                raise IdempotencyInProgress() from error
            raise
        cursor.execute("SET LOCAL lock_timeout = DEFAULT")
        return stored
