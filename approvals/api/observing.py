"""The one exception to "reading changes nothing": whoever finds an approval past its time may write that down."""

import logging

from django.db import OperationalError

from approvals.domain.errors import Refusal
from approvals.domain.gate import is_expired
from approvals.models import Approval
from approvals.models.clock import database_now
from approvals.services import expire

log = logging.getLogger(__name__)


def expire_if_late(approval: Approval | None) -> bool:
    """Ends an approval whose time has come; True if it did. Readers show it as expired even if this fails."""
    if approval is None or not approval.is_live or not is_expired(database_now(), approval.expires_at):
        return False
    try:
        return expire.expire(approval_id=approval.pk)
    except (Refusal, OperationalError):
        log.warning("approval %s is past its time, but that could not be written down", approval.pk, exc_info=True)
        return False
