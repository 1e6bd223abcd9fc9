"""Recording what happened: what a person found at the remote, with all that is known beside the form."""

from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from django.urls import reverse

from approvals.domain.errors import NotEligible
from approvals.models import Delivery
from approvals.services import outcomes, resolve
from approvals.services.resolve import Said
from approvals.web import words
from approvals.web.cards import delivery as deliveries
from approvals.web.cards import plate
from approvals.web.cards.facts import Fact
from approvals.web.cards.plate import Plate
from approvals.web.cards.standing import Standing
from approvals.web.pages import draft as drafts
from approvals.web.pages import standing as targets
from approvals.web.pages import tabs
from approvals.web.pages.frame import Crumb, Notice
from approvals.web.pages.proposal import Input
from approvals.web.pages.reader import Reader
from approvals.web.pages.settle import resolvable

LABELS = {
    (Delivery.Kind.WRITE, Said.DELIVERED): ("It is there", "You found it at the remote."),
    (Delivery.Kind.WRITE, Said.NOT_DELIVERED): ("It is not there", "You looked where it would be, and it is not."),
    (Delivery.Kind.RETRACT, Said.DELIVERED): ("It is gone", "You looked where it was, and it is not there any more."),
    (Delivery.Kind.RETRACT, Said.NOT_DELIVERED): ("It is still there", "You found it at the remote, still readable."),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """One finding as a radio button. A disabled one says from when on it can be chosen."""

    value: str
    label: str
    hint: str
    is_disabled: bool = False
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """The form as typed, with what is wrong with it by control."""

    outcome: str = ""
    evidence: str = ""
    remote_id: str | None = None
    fault: str = ""
    faults: tuple[tuple[str, str], ...] = ()

    def fault_of(self, name: str) -> str:
        return dict(self.faults).get(name, "")


@dataclass(frozen=True, slots=True)
class Form:
    url: str
    cancel_url: str
    delivery: str
    once: str
    choices: tuple[Choice, ...]
    choices_fault: str
    evidence: Input
    remote_id: Input | None
    consequence: str


@dataclass(frozen=True, slots=True)
class ResolvePage:
    """`form` is missing for whoever may not record it; a notice then says why, and `kept` holds what they typed."""

    heading: str
    title: str
    state: str
    says: str
    content_url: str
    crumbs: tuple[Crumb, ...]
    plate: Plate
    delivery: deliveries.DeliveryView
    facts: tuple[Fact, ...]
    standing: Standing | None
    notices: tuple[Notice, ...]
    form: Form | None
    kept: str


def page(reader: Reader, written: Written) -> ResolvePage | None:
    """Gives the page, or nothing where the outcome is settled."""
    found = resolvable(reader)
    if found is None:
        return None
    draft, why_not = reader.draft, _why_not(reader)
    undoing = deliveries.undoing_facts(found) if found.kind == Delivery.Kind.RETRACT else ()
    return ResolvePage(
        heading=f"Record what happened to {draft.reference}",
        title=draft.title,
        state=draft.state,
        says=reader.truth.says,
        content_url=f"{reverse('draft', args=[draft.pk])}?tab={tabs.CONTENT}",
        crumbs=_crumbs(reader),
        plate=plate.of_draft(draft, title=reader.truth.plate),
        delivery=tabs.moving(reader),
        facts=undoing or deliveries.facts(draft, found, len(reader.revision.canonical)),
        standing=targets.card(reader),
        notices=_notices(written, why_not),
        form=None if why_not else _form(reader, found, written),
        kept=written.evidence if why_not else "",
    )


def _crumbs(reader: Reader) -> tuple[Crumb, ...]:
    *above, here = drafts.crumbs(reader)
    return (*above, Crumb(here.label, reverse("draft", args=[reader.draft.pk])), Crumb("Record what happened"))


def _why_not(reader: Reader) -> str:
    try:
        resolve.insist_on_a_stranger_to_it(reader.actor, reader.draft)
    except NotEligible as refusal:
        return str(refusal)
    return ""


def _notices(written: Written, why_not: str) -> tuple[Notice, ...]:
    if why_not:
        return (Notice("amber", "alert", "You cannot record this", why_not),)
    if written.fault:
        return (Notice("bad", "alert", "Nothing was recorded", written.fault, alert=True),)
    return ()


def _form(reader: Reader, found: Delivery, written: Written) -> Form:
    is_write = found.kind == Delivery.Kind.WRITE
    what = "delivery" if is_write else "retraction"
    return Form(
        url=reverse("resolve", args=[reader.draft.pk]),
        cancel_url=reverse("draft", args=[reader.draft.pk]),
        delivery=str(found.pk),
        once=uuid4().hex,
        choices=tuple(_choices(found, written, reader.now)),
        choices_fault=written.fault_of("outcome"),
        evidence=_evidence(written),
        remote_id=_remote_id(found, written) if is_write else None,
        consequence=f"This settles the {what}. It stands in the history with your name and is never edited.",
    )


def _choices(found: Delivery, written: Written, now: datetime) -> list[Choice]:
    until, choices = outcomes.horizon(found), []
    for said in Said:
        label, hint = LABELS[Delivery.Kind(found.kind), said]
        early = said == Said.NOT_DELIVERED and now < until
        if early:
            at = f"{words.moment(until, now, seconds=True)} UTC, in {words.span(until - now)}"
            hint = f"Only from {at}: until then a stopped worker may wake and send, or the request may still arrive."
        choices.append(Choice(said.value, label, hint, is_disabled=early, is_chosen=written.outcome == said))
    return choices


def _evidence(written: Written) -> Input:
    hint = "Where you looked, what you saw there and when: whoever reads this later has nothing else to go by."
    fault = written.fault_of("evidence")
    return Input("evidence", "evidence", "Evidence", written.evidence, 4, hint, fault, is_required=True)


def _remote_id(found: Delivery, written: Written) -> Input:
    return Input(
        "remote_id",
        "remote-id",
        "Id of the object at the remote",
        found.remote_id if written.remote_id is None else written.remote_id,
        hint="As the remote writes it. With it the object can be read back, corrected and taken back later.",
        fault=written.fault_of("remote_id"),
        is_code=True,
        is_line=True,
        is_optional=True,
    )
