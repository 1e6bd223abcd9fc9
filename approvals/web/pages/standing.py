"""What stands at a draft's target now, and what moved it, for whoever reviews or settles the draft."""

from django.urls import reverse

from approvals.domain.states import DRAFT, OPEN_DRAFT, DraftState
from approvals.models import Delivery, Draft
from approvals.selectors import standing as reads
from approvals.services import rendering
from approvals.web import words
from approvals.web.cards import standing as cards
from approvals.web.cards.standing import Asks, Standing
from approvals.web.pages.frame import Notice
from approvals.web.pages.reader import Reader

SHOWN = frozenset(
    {
        *OPEN_DRAFT,
        *DRAFT.edge("deliver").sources,
        *DRAFT.edge("retract").sources,
        *DRAFT.edge("verify_gone").sources,
    }
) - {DraftState.CONFIRMED}
"""Where a draft may yet change its target, or where what it did there is in doubt."""
BEFORE = "Not part of what you approve."
AFTER = "As it was read last; it proves nothing about this delivery."
TITLE = "The target moved, so it is in review again"


def card(reader: Reader) -> Standing | None:
    """Gives the card, or nothing where each write makes a new thing or nothing is in question."""
    draft = reader.draft
    if not draft.channel.is_exclusive or draft.state not in SHOWN:
        return None
    config = draft.channel.config
    asks = Asks(
        url=reverse("standing", args=[draft.pk]),
        ask_url=reverse("read_target", args=[draft.pk]),
        can_ask=config is not None and rendering.can_read(config),
        about=BEFORE if is_open(draft) else AFTER,
    )
    payload = rendering.binding_of(reader.revision).payload
    reading = reads.reading_of(draft.target)
    return cards.standing(draft.target, reading, payload, asks=asks, is_open=moved(reader))


def is_open(draft: Draft) -> bool:
    """True while the draft may still be sent: then the card stands beside what is approved."""
    return draft.state in OPEN_DRAFT


def moved(reader: Reader) -> bool:
    """True if this review replaced one that was opened on an older version of the target."""
    approval = reader.approval
    if approval is None or not reader.is_pending:
        return False
    return approval.supersedes.filter(target_version__lt=approval.target_version).exists()


def moved_notice(reader: Reader) -> Notice:
    """Says that the target moved and by what; what another room did there is said without saying what it was."""
    draft = reader.draft
    newest = reads.newest_change(draft.target)
    told = f"{words.sentence(draft.reason)} What was approved before does not count for what stands there now."
    if newest is None:
        return Notice("amber", "info", TITLE, told)
    when = words.moment(newest.delivered_at or reader.now, reader.now, seconds=True)
    verb = "took back what it wrote" if newest.kind == Delivery.Kind.RETRACT else "wrote there"
    if newest.draft.room_id != draft.room_id:
        return Notice("amber", "info", TITLE, f"{told} A draft of another room {verb} at {when} UTC.")
    text = f"{told} The newest change: {newest.draft.reference} {verb} at {when} UTC."
    link = f"{newest.draft.reference}: {newest.draft.title}"
    return Notice("amber", "info", TITLE, text, url=reverse("draft", args=[newest.draft_id]), link=link)
