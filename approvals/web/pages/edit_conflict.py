"""Two people edited one draft: the second sees both texts, and loses none."""

from django.urls import reverse

from approvals.domain.binding import Binding
from approvals.domain.errors import Refusal
from approvals.services import rendering
from approvals.web.cards import changes, conflict
from approvals.web.cards.changes import Difference
from approvals.web.cards.conflict import ConflictSide, EditConflict
from approvals.web.pages.reader import Reader
from approvals.web.writing import Written


def of_edit(reader: Reader, written: Written) -> EditConflict:
    """Gives what was edited, what was saved meanwhile, and the way from the saved text to the typed one."""
    draft, now = reader.draft, reader.now
    seen = draft.revisions.select_related("author", "acts_for").filter(number=written.version).first()
    started = conflict.side("You edited", seen, now) if seen else ConflictSide("You edited", written.version, "", "")
    return EditConflict(
        title="Somebody saved this draft while you were editing. Your text was not saved.",
        text=f"Both texts are here. Save again to put yours on top of revision {draft.version}, or leave it as it is.",
        saw=started,
        now=conflict.of_draft_now(draft, reader.revision, now),
        diff=_difference(reader, written),
        open_url=reverse("draft", args=[draft.pk]),
        open_label=f"Leave mine, open revision {draft.version}",
    )


def _difference(reader: Reader, written: Written) -> Difference | None:
    """Gives the difference of the payloads; a typed text that cannot be read yet stands in the form all the same."""
    saved = rendering.binding_of(reader.revision)
    try:
        payload = written.payload()
    except Refusal:
        return None
    if not isinstance(payload, dict):
        return None
    mine = Binding(saved.operation, saved.target, payload, saved.canonical)
    number = reader.draft.version
    return changes.difference(saved, mine, numbers=(number, number + 1))
