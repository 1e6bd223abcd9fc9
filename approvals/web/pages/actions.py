"""What a person may do to a draft besides deciding: offered only where state, role and standing allow it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from approvals.domain.states import DRAFT, DraftState
from approvals.models import Draft
from approvals.permissions import Verb
from approvals.web.pages.reader import Reader

REVISABLE = frozenset({*DRAFT.edge("submit").sources, *DRAFT.edge("expire").sources})
SETTLED = frozenset({DraftState.FAILED, DraftState.RETRACTED, DraftState.REVOKED, DraftState.EXPIRED})


@dataclass(frozen=True, slots=True)
class Action:
    """One verb as a form. `hidden` names what it is about; a reason is asked where the verb takes authority away."""

    verb: str
    url: str
    label: str
    hint: str
    needs_reason: bool = False
    reason_label: str = "Reason"
    is_danger: bool = False
    is_primary: bool = False
    hidden: tuple[tuple[str, str], ...] = ()
    fault: str = ""
    reason: str = ""
    icon: str = ""
    is_open: bool = False

    def with_primary(self, is_primary: bool) -> "Action":
        return replace(self, is_primary=is_primary)


@dataclass(frozen=True, slots=True)
class Link:
    label: str
    url: str
    icon: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Why a control is not there, with the way to what can be done instead."""

    text: str
    url: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """When a verb is offered, and what its form says."""

    verb: Verb
    when: Callable[[Draft], bool]
    label: str
    hint: str
    needs_reason: bool = False
    is_danger: bool = False
    is_primary: bool = False


def _waits_for_a_press(draft: Draft) -> bool:
    approval = draft.approval
    return draft.state == DraftState.APPROVED and approval is not None and approval.dispatch_at is None


OFFERS = (
    Offer(
        Verb.SUBMIT,
        lambda draft: draft.state in DRAFT.edge("submit").sources,
        "Submit for review",
        "Opens a review of the newest revision, exactly as it is shown here.",
        is_primary=True,
    ),
    Offer(
        Verb.DISPATCH,
        _waits_for_a_press,
        "Send now",
        "A worker then sends exactly the approved bytes, once.",
        is_primary=True,
    ),
    Offer(
        Verb.REVOKE,
        lambda draft: draft.state in DRAFT.edge("revoke").sources,
        "Revoke",
        "Takes the authority away for everybody. Nothing is sent; the author has to submit it again.",
        needs_reason=True,
        is_danger=True,
    ),
    Offer(
        Verb.WITHDRAW,
        lambda draft: draft.state in DRAFT.edge("withdraw").sources,
        "Withdraw",
        "Takes the draft off the table. Nothing is sent; it can be submitted again.",
        needs_reason=True,
        is_danger=True,
    ),
)


Fault = tuple[str, str, str]
"""Verb, message and typed reason of a form that came back."""


def actions(reader: Reader) -> tuple[Action, ...]:
    """Gives the forms this person is offered."""
    return tuple(_offered(reader))


def links(reader: Reader) -> tuple[Link, ...]:
    return tuple(_links(reader))


def _offered(reader: Reader) -> Iterator[Action]:
    for offer in OFFERS:
        if offer.when(reader.draft) and reader.may(offer.verb):
            yield Action(
                verb=offer.verb.value,
                url=reverse(offer.verb.value, args=[reader.draft.pk]),
                label=offer.label,
                hint=offer.hint,
                needs_reason=offer.needs_reason,
                is_danger=offer.is_danger,
                is_primary=offer.is_primary,
                hidden=_about(reader, offer.verb),
            )


def _about(reader: Reader, verb: Verb) -> tuple[tuple[str, str], ...]:
    if verb == Verb.SUBMIT:
        return (("version", str(reader.draft.version)),)
    return (("approval", str(reader.draft.approval_id)),) if verb == Verb.REVOKE else ()


def back(found: tuple[Action, ...], fault: Fault | None, *, opened: str = "") -> tuple[Action, ...]:
    """Gives forms as they come back: the one at fault with its message and its text, `opened` unfolded."""
    return tuple(_back(action, fault, opened) for action in found)


def _back(action: Action, fault: Fault | None, opened: str) -> Action:
    if fault is not None and fault[0] == action.verb:
        return replace(action, fault=fault[1], reason=fault[2], is_open=True)
    return replace(action, is_open=action.verb == opened)


def _links(reader: Reader) -> Iterator[Link]:
    draft = reader.draft
    if draft.state in REVISABLE and reader.may(Verb.REVISE):
        hint = "A changed byte makes a new revision and voids the approvals so far." if reader.is_pending else ""
        yield Link(f"Edit {draft.reference}", reverse("edit", args=[draft.pk]), "pencil", hint)
    if draft.state in SETTLED and reader.may(Verb.PROPOSE):
        about: dict[str, Any] = {"copy": draft.pk}
        if draft.corrects_id is not None:  # a copy of a correction corrects the same draft, with its own operation
            about |= {"corrects": draft.corrects_id, "operation": draft.operation}
        yield Link("Copy into a new draft", f"{reverse('new')}?{urlencode(about)}", "copy")
