"""What may be done about a delivery: settle it, try it again, take it back, replace it.

Whether something may be done is asked of the services; this module only turns the answers into controls and reasons.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from approvals.domain.errors import Refusal
from approvals.domain.gate import Cause, is_expired
from approvals.domain.states import DRAFT, DeliveryState, DraftState
from approvals.models import Delivery, Draft
from approvals.permissions import Verb
from approvals.services import corrections, look_again, resolve, retract, retry
from approvals.web import words
from approvals.web.pages.actions import Action, Link, Note
from approvals.web.pages.reader import Reader

TITLES = {
    DraftState.SUBMITTING: "While it waits",
    DraftState.DELIVERY_UNKNOWN: "Settle it",
    DraftState.FAILED: "What can be done",
    DraftState.SUBMITTED: "Correct it or take it back",
    DraftState.CONFIRMED: "Correct it or take it back",
    DraftState.RETRACTING: "While it is taken back",
    DraftState.RETRACTION_UNKNOWN: "Settle it",
    DraftState.RETRACTION_FAILED: "It is still public",
}
UNSETTLED = (
    DraftState.DELIVERY_UNKNOWN,
    DraftState.FAILED,
    DraftState.RETRACTION_UNKNOWN,
    DraftState.RETRACTION_FAILED,
)
PUBLISHED = DRAFT.edge("retract").sources


@dataclass(frozen=True, slots=True)
class Settle:
    """Controls in the order of their use; `hints` say what each does, `notes` why one is missing."""

    title: str
    steps: tuple[Action, ...]
    links: tuple[Link, ...]
    notes: tuple[Note, ...]

    @property
    def hints(self) -> tuple[str, ...]:
        return tuple(step.hint for step in self.steps if not step.needs_reason) + tuple(
            link.hint for link in self.links if link.hint
        )

    @property
    def offers(self) -> str:
        """Gives a short text that changes with what is offered."""
        return ".".join((*(step.verb for step in self.steps), *(link.icon for link in self.links)))


def card(reader: Reader) -> Settle | None:
    """Gives the card of a draft whose sending has begun; nothing where there is nothing to do or to say."""
    if reader.draft.state not in TITLES:
        return None
    found = [*_looks(reader), *_sends(reader), *_records(reader), *_corrections(reader), *_undoings(reader)]
    steps = tuple(item for item in found if isinstance(item, Action))
    links = tuple(item for item in found if isinstance(item, Link))
    notes = tuple(item for item in found if isinstance(item, Note))
    if not found and reader.draft.state in UNSETTLED:
        notes = (Note("An operator of this room can settle it."),)
    if not (steps or links or notes):
        return None
    return Settle(_title(reader, steps, links), _one_primary(steps), links, notes)


def _title(reader: Reader, steps: tuple[Action, ...], links: tuple[Link, ...]) -> str:
    title = TITLES[DraftState(reader.draft.state)]
    if reader.draft.state not in PUBLISHED or bool(links) == any(step.verb == Verb.RETRACT for step in steps):
        return title
    return "Correct it" if links else "Take it back"


Found = Iterator[Action | Link | Note]


def resolvable(reader: Reader) -> Delivery | None:
    """Gives the delivery that a person's word may settle, if there is one."""
    candidates = (reader.retraction, reader.write)
    return next((row for row in candidates if row and resolve.can_be_resolved(row, reader.draft)), None)


def _looks(reader: Reader) -> Found:
    if not reader.may(Verb.RETRY):
        return
    seen = look_again.in_doubt(reader.draft)
    if seen is None:
        return
    if look_again.can_look(seen, reader.draft):
        hint = "The check only reads: a worker looks at the remote and records what it sees."
        yield _action(reader, "look_again", "Check the remote now", hint, icon="search", is_primary=True)
    else:
        yield Note("This channel cannot look it up. Somebody has to look at the remote and record what is there.")


def _sends(reader: Reader) -> Found:
    """Gives what sends once more, and the end of what waits."""
    draft, write, undoing = reader.draft, reader.write, reader.retraction
    if draft.state == DraftState.FAILED and write is not None:
        hint = "Sends the same bytes under the same id, after all checks of a first send."
        yield from _again(reader, write, "Try again", hint)
    elif reader.is_absent and write is not None:
        hint = (
            "It is proven absent. Sending again uses the same bytes and the same id, after all checks of a first send."
        )
        yield from _again(reader, write, "Send again", hint)
    elif draft.state in retry.RETRACTIONS and undoing is not None:
        yield from _retract_again(reader, undoing)
    waiting = next((row for row in reader.deliveries if row.state == DeliveryState.WAITING), None)
    if waiting is not None and reader.may(Verb.CANCEL):
        yield from _cancel(reader, waiting)


def _again(reader: Reader, write: Delivery, label: str, hint: str) -> Found:
    approval = reader.approval
    if not reader.may(Verb.RETRY) or approval is None:
        return
    if write.held_at is not None:
        yield Note("It cannot be sent again before the late evidence is settled.")
    elif is_expired(reader.now, approval.expires_at):
        over = words.moment(approval.expires_at, reader.now)
        yield Note(f"It cannot be sent again: the approval's time was over at {over} UTC. Copy it into a new draft.")
    else:
        yield _action(reader, "retry", label, hint, icon="status-submitting", is_primary=True)


def _retract_again(reader: Reader, undoing: Delivery) -> Found:
    if not reader.may(Verb.RETRY):
        return
    if undoing.held_at is not None or undoing.state == DeliveryState.UNKNOWN:
        yield Note("It cannot be asked for again before it is known what became of the last time.")
        return
    reasons = _why_not(reader.draft)
    yield from reasons
    if not reasons:
        hint = "Asks the remote once more to take it back. It is read back again afterwards."
        yield _action(reader, "retry", "Retract again", hint, icon="status-retracting", is_primary=True)


def _cancel(reader: Reader, waiting: Delivery) -> Found:
    if waiting.held_at is not None:
        yield Note("It cannot be cancelled before the late evidence is settled.")
        return
    is_undoing = waiting.kind == Delivery.Kind.RETRACT
    label = "Cancel the retraction" if is_undoing else "Cancel the delivery"
    hint = "What it published stays public." if is_undoing else "It is not sent any more. The approval stays spent."
    yield _action(reader, "cancel", label, hint, needs_reason=True, is_danger=not is_undoing)


def _records(reader: Reader) -> Found:
    if not reader.may(Verb.RESOLVE) or resolvable(reader) is None:
        return
    if reader.user.pk in reader.excluded:
        yield Note("You wrote this, or it was written for you, so another operator records what became of it.")
        return
    hint = "Recording asks for evidence, stands in the history, and never changes the attempts below."
    yield Link("Record what happened…", reverse("resolve", args=[reader.draft.pk]), "pencil", hint)


def _corrections(reader: Reader) -> Found:
    """Gives the way to a correction, or to the one there is; nothing where the channel cannot correct at all."""
    draft = reader.draft
    if draft.state not in corrections.CORRIGIBLE or reader.corrected_by is not None:
        return
    if rival := draft.corrections.filter(state__in=corrections.UNDER_WAY).first():
        yield Note(
            f"{rival.reference} corrects it already.", reverse("draft", args=[rival.pk]), f"Open {rival.reference}"
        )
        return
    operation = correcting(draft) if reader.may(Verb.PROPOSE) else None
    if operation is not None:
        hint = "A correction is a new draft: it is reviewed like any other, and replaces the same object at the remote."
        query = urlencode({"corrects": draft.pk, "operation": operation})
        yield Link("Correct it…", f"{reverse('new')}?{query}", "replaces", hint)


def correcting(draft: Draft) -> str | None:
    """Gives the operation by which a published draft can be corrected right now: its own if that can, else another."""
    config = draft.channel.config
    if config is None or draft.channel.retired_at is not None:
        return None
    for operation in sorted(config.operations, key=lambda name: (name != draft.operation, name)):
        try:
            corrections.binding_of(draft, config=config, operation=operation, target=draft.target)
        except Refusal:
            continue
        return str(operation)
    return None


def _undoings(reader: Reader) -> Found:
    draft = reader.draft
    if draft.state not in PUBLISHED or not reader.may(Verb.RETRACT):
        return
    reasons = _why_not(draft)
    yield from reasons
    if not reasons:
        hint = "The remote is asked to take it back, and read afterwards: only what is seen to be gone counts as gone."
        yield _action(
            reader, "retract", "Retract", hint, needs_reason=True, is_danger=True, reason_label="Why it is taken back"
        )


def _why_not(draft: Draft) -> list[Note]:
    """Gives why it cannot be retracted, each reason with the way to what can be done instead."""
    newer = corrections.corrected_by(draft) or corrections.under_way(draft)
    answer = retract.why_not(draft)
    twice = (Cause.NEWER_WRITE,) if answer.has(Cause.CORRECTED) else ()  # the correction is that newer write
    return [
        Note(reason.message, reverse("draft", args=[newer.pk]), f"Open {newer.reference}")
        if reason.cause == Cause.CORRECTED and newer is not None
        else Note(reason.message)
        for reason in answer.reasons
        if reason.cause not in twice
    ]


def _action(
    reader: Reader,
    verb: str,
    label: str,
    hint: str,
    *,
    icon: str = "",
    needs_reason: bool = False,
    is_danger: bool = False,
    is_primary: bool = False,
    reason_label: str = "Reason",
) -> Action:
    url = reverse(verb, args=[reader.draft.pk])
    return Action(verb, url, label, hint, needs_reason, reason_label, is_danger, is_primary, icon=icon)


def _one_primary(steps: tuple[Action, ...]) -> tuple[Action, ...]:
    """Leaves the last primary button the only one: sending what is proven absent goes before looking once more."""
    last = max((index for index, step in enumerate(steps) if step.is_primary), default=-1)
    return tuple(step.with_primary(index == last) for index, step in enumerate(steps))
