"""The view token: a signed note that this person was shown all of this approval's content, and when.

A page makes one only when it rendered the whole content. So a decision names what was *shown*, never what happens to
be current when somebody clicks.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.core import signing

from approvals.domain.errors import StaleView

VALID_FOR = timedelta(hours=12)
_SALT = "approvals.view"


@dataclass(frozen=True, slots=True)
class View:
    """What one person was shown, and when."""

    approval_id: UUID
    digest: str
    person_id: int
    shown_at: datetime


def make(view: View) -> str:
    """Gives the token to embed in the page that is being rendered."""
    note = [str(view.approval_id), view.digest, view.person_id, view.shown_at.isoformat()]
    return signing.dumps(note, salt=_SALT, compress=False)


def read(token: str, *, approval_id: UUID, digest: str, person_id: int) -> datetime:
    """Gives when it was shown. Raises StaleView for a token that is missing, too old, altered or of something else."""
    try:
        note = signing.loads(token, salt=_SALT, max_age=VALID_FOR)
    except signing.BadSignature as exc:
        raise StaleView() from exc
    if not isinstance(note, list) or note[:3] != [str(approval_id), digest, person_id]:
        raise StaleView()
    return datetime.fromisoformat(note[3])
