"""What has to be said over an item before anything else about it is read."""

from collections.abc import Iterator

from django.urls import reverse

from approvals.domain.binding import Binding
from approvals.domain.states import DraftState
from approvals.models import Draft
from approvals.selectors import pauses
from approvals.web.pages import pausing, standing
from approvals.web.pages.frame import Notice
from approvals.web.pages.reader import Reader
from approvals.web.pages.tabs import MOVING


def of_draft(reader: Reader, binding: Binding) -> tuple[Notice, ...]:
    """Gives the notices of an item, the worst first."""
    return (*_altered(reader, binding), *_again(reader), *_corrected(reader), *_paused(reader))


def _altered(reader: Reader, binding: Binding) -> Iterator[Notice]:
    if binding.digest != reader.revision.digest:
        text = "The stored bytes do not match the digest of this revision. Decide nothing; tell an operator."
        yield Notice("bad", "alert", "These bytes were altered", text)


def _again(reader: Reader) -> Iterator[Notice]:
    draft = reader.draft
    if draft.state == DraftState.IN_REVIEW and draft.reason:
        again = Notice("amber", "info", "It is in review again", draft.reason)
        yield standing.moved_notice(reader) if standing.moved(reader) else again


def _corrected(reader: Reader) -> Iterator[Notice]:
    newer = reader.corrected_by
    if newer is not None:
        text = "What stands at the remote is no longer what is shown here."
        yield _to("amber", f"Corrected by {newer.reference}", text, newer)


def _to(tone: str, title: str, text: str, draft: Draft) -> Notice:
    link = f"{draft.reference}: {draft.title}"
    return Notice(tone, "replaces", title, text, url=reverse("draft", args=[draft.pk]), link=link)


def _paused(reader: Reader) -> Iterator[Notice]:
    """Says why nothing leaves, to whoever waits for it; the controls are on the room's page."""
    draft = reader.draft
    if draft.state not in MOVING:
        return
    found = []
    if pause := pauses.of_room(draft.room):
        found.append(pausing.of_room(draft.room, pause, reader.now))
    if pause := pauses.of_channel(draft.channel):
        found.append(pausing.of_channel(draft.channel, pause, reader.now))
    url = reverse("room", args=[draft.room.slug])
    yield from (pausing.with_way(notice, f"{url}#sending", "To the room\u2019s ways out") for notice in found)
