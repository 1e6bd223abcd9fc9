"""The revision card: which iteration this is, its digest in full, its size."""

from dataclasses import dataclass

from approvals.domain.binding import short
from approvals.models import Draft, Revision
from approvals.web import words


@dataclass(frozen=True, slots=True)
class RevisionCard:
    number: int
    newest: int
    digest: str
    short: str
    size: str
    changes_url: str = ""
    changes_text: str = ""


def card(draft: Draft, revision: Revision, *, changes_url: str) -> RevisionCard:
    """Gives the card; from the second revision on it leads to what changed."""
    return RevisionCard(
        number=revision.number,
        newest=draft.version,
        digest=revision.digest,
        short=short(revision.digest),
        size=words.plural(len(revision.canonical), "byte"),
        changes_url=changes_url if revision.number > 1 else "",
        changes_text=f"See what changed since revision {revision.number - 1}",
    )
