"""The page of one draft: destination, revision, content, decision, in this order for eye and ear."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.urls import reverse

from approvals.domain.binding import short
from approvals.domain.gate import Verdict
from approvals.domain.states import ApprovalState
from approvals.services import rendering
from approvals.web import view_token
from approvals.web.cards import delivery, expiry, payload, people, plate, rail, revision
from approvals.web.cards.expiry import Expiry
from approvals.web.cards.facts import Fact
from approvals.web.cards.people import Who
from approvals.web.cards.plate import Plate
from approvals.web.cards.rail import Rail
from approvals.web.cards.revision import RevisionCard
from approvals.web.cards.standing import Standing
from approvals.web.pages import actions, notices, settle, standing, tabs, undo
from approvals.web.pages.actions import Action, Link
from approvals.web.pages.frame import Crumb, Notice
from approvals.web.pages.reader import Reader
from approvals.web.pages.settle import Settle
from approvals.web.pages.tabs import Tab
from approvals.web.pages.undo import Undo
from approvals.web.view_token import View


@dataclass(frozen=True, slots=True)
class Dock:
    version: int
    short: str
    expiry: Expiry


@dataclass(frozen=True, slots=True)
class Typed:
    """What somebody typed and what was wrong with it, when a form comes back; and what was just done.

    `opened` is the verb whose form is to be unfolded.
    """

    comment: str = ""
    comment_fault: str = ""
    action: actions.Fault | None = None
    opened: str = ""
    done: str = ""
    next: Link | None = None


@dataclass(frozen=True, slots=True)
class DraftPage:
    crumbs: tuple[Crumb, ...]
    title: str
    state: str
    says: str
    author: Who
    created_at: datetime
    edited_at: datetime | None
    not_before: datetime | None
    corrects: Link | None
    plate: Plate
    revision: RevisionCard
    tabs: tuple[Tab, ...]
    tab_template: str
    body: Any
    rail: Rail
    notices: tuple[Notice, ...]
    dock: Dock | None
    watch_url: str
    done: str = ""
    next: Link | None = None
    undo: Undo | None = None
    standing: Standing | None = None
    standing_first: bool = False
    settle: Settle | None = None
    delivery_facts: tuple[Fact, ...] = ()
    retraction_facts: tuple[Fact, ...] = ()
    claim_facts: tuple[Fact, ...] = ()
    actions: tuple[Action, ...] = ()
    links: tuple[Link, ...] = ()


def page(reader: Reader, *, tab: str, as_hex: bool = False, typed: Typed = Typed()) -> DraftPage:
    """Gives the page with one tab open. The decision form is there only where the tab holds the whole content."""
    draft = reader.draft
    binding = rendering.binding_of(reader.revision)
    url = reverse("draft", args=[draft.pk])
    hidden = payload.hidden(binding.payload, list(payload.fields(binding.payload)))
    opened = tabs.opened(reader, binding, hidden, name=tab, as_hex=as_hex, url=url)
    built = _rail(reader, typed, opened, url=url, hidden_count=hidden.count if hidden else 0)
    replaces = binding.corrects.remote_id if binding.corrects else ""
    shown = DraftPage(
        crumbs=crumbs(reader),
        title=draft.title,
        state=draft.state,
        says=reader.truth.says,
        author=people.who(draft.author, draft.acts_for, reader=reader.user),
        created_at=draft.created_at,
        edited_at=reader.revision.created_at if draft.version > 1 else None,
        not_before=draft.not_before,
        corrects=_corrects(reader),
        plate=plate.of_draft(draft, title=reader.truth.plate, replaces=replaces),
        revision=revision.card(draft, reader.revision, changes_url=f"{url}?tab=changes"),
        tabs=opened.tabs,
        tab_template=opened.template,
        body=opened.body,
        rail=built,
        notices=notices.of_draft(reader, binding),
        dock=_dock(reader, built),
        watch_url=f"{reverse('news', args=[draft.pk])}?version={draft.version}&seq={draft.seq}" if built.form else "",
        done=typed.done,
        next=typed.next,
    )
    return _with_controls(shown, reader, typed)


def _with_controls(shown: DraftPage, reader: Reader, typed: Typed) -> DraftPage:
    """Adds what may be done besides deciding, and what there is to know before doing it."""
    undoable, there = _with_typed(undo.card(reader), typed), standing.card(reader)
    return replace(
        shown,
        rail=_without_take_back(shown.rail, undoable),
        undo=undoable,
        standing=there,
        standing_first=there is not None and standing.is_open(reader.draft),
        settle=_settle(reader, typed),
        delivery_facts=_delivery_facts(reader),
        retraction_facts=delivery.undoing_facts(reader.retraction),
        claim_facts=_claim_facts(reader),
        actions=_actions(reader, typed, undoable),
        links=actions.links(reader),
    )


def crumbs(reader: Reader) -> tuple[Crumb, ...]:
    room = reader.draft.room
    return (
        Crumb("Your turn", reverse("inbox")),
        Crumb(room.name, reverse("room", args=[room.slug])),
        Crumb(reader.draft.reference),
    )


def _corrects(reader: Reader) -> Link | None:
    """Gives the way to the published draft whose object these bytes replace."""
    original = reader.draft.corrects
    return Link(original.reference, reverse("draft", args=[original.pk]), "replaces") if original else None


def _with_typed(found: Undo | None, typed: Typed) -> Undo | None:
    if found is None or found.step is None:
        return found
    return replace(found, step=actions.back((found.step,), typed.action, opened=typed.opened)[0])


def _settle(reader: Reader, typed: Typed) -> Settle | None:
    found = settle.card(reader)
    return replace(found, steps=actions.back(found.steps, typed.action, opened=typed.opened)) if found else None


def _actions(reader: Reader, typed: Typed, undoable: Undo | None) -> tuple[Action, ...]:
    """Gives the other forms; what Undo does stands there once."""
    undone = undoable.step.verb if undoable and undoable.step else ""
    found = tuple(action for action in actions.actions(reader) if action.verb != undone)
    return actions.back(found, typed.action, opened=typed.opened)


def _without_take_back(built: Rail, undoable: Undo | None) -> Rail:
    is_undone = undoable is not None and undoable.step is not None and undoable.step.verb == "take_back"
    return replace(built, take_back=None) if is_undone else built


def _rail(reader: Reader, typed: Typed, opened: tabs.Opened, *, url: str, hidden_count: int) -> Rail:
    approval = reader.approval
    left, label = rail.time_left(approval, reader.now)
    shown = Rail(
        expiry=left,
        expiry_label=label,
        outcome=rail.outcome(reader.draft, reader.truth),
        needs=tuple(_needs(reader)),
        said=tuple(rail.said(reader.decisions, approval)),
        take_back=_take_back(reader),
    )
    if not reader.can_decide:
        return replace(shown, why_not=_why_not(reader))
    if not opened.shows_everything:
        return replace(
            shown,
            why_not="You decide where the whole content is open.",
            why_not_url=f"{url}?tab=content#decision",
            why_not_link="Open the content to decide",
        )
    return replace(shown, form=_form(reader, typed, url=url, hidden_count=hidden_count))


def _needs(reader: Reader) -> list[rail.Need]:
    if reader.approval is None or not reader.approval.is_live:
        return []
    return list(rail.needs(reader.approval.rules, reader.tally, reader.mine, list(reader.excluded.values())))


def _form(reader: Reader, typed: Typed, *, url: str, hidden_count: int) -> rail.DecisionForm:
    """Makes the form with its view token: the caller has rendered the whole content."""
    approval, mine = reader.approval, reader.mine
    assert approval is not None
    assert mine is not None
    seen = View(approval.pk, approval.digest, reader.user.pk, reader.now)
    size = len(reader.revision.canonical)
    return rail.DecisionForm(
        url=url,
        approval=str(approval.pk),
        version=approval.version,
        digest=approval.digest,
        short=short(approval.digest),
        view_token=view_token.make(seen),
        consequence=rail.consequence(approval.rules, reader.tally, mine, size),
        hidden_count=hidden_count,
        comment=typed.comment,
        fault=typed.comment_fault,
    )


def _take_back(reader: Reader) -> rail.TakeBack | None:
    decision, approval = reader.my_decision, reader.approval
    if decision is None or approval is None or not approval.is_live:
        return None
    was = rail.VERBS[Verdict(decision.verdict)][1]
    text = f"You {was} revision {decision.version}."
    if approval.state == ApprovalState.APPROVED:
        text = f"{text} While nothing is sent you can take it back; it then returns to review."
    url = reverse("take_back", args=[reader.draft.pk])
    return rail.TakeBack(url, str(approval.pk), text, "Take your decision back")


def _why_not(reader: Reader) -> str:
    """Says why this person sees no buttons; nothing where the outcome says it already."""
    if not reader.is_pending or reader.my_decision is not None:
        return ""
    if reader.user.pk in reader.excluded:
        return "You wrote part of this, or an agent did for you, so somebody else decides on it."
    if reader.user.is_agent:
        return "Agents never decide."
    return "You can read this, but you are not a reviewer of this room."


def _delivery_facts(reader: Reader) -> tuple[Fact, ...]:
    if reader.draft.state not in tabs.AFTER_APPROVAL:
        return ()
    return delivery.facts(reader.draft, reader.write, len(reader.revision.canonical))


def _claim_facts(reader: Reader) -> tuple[Fact, ...]:
    if reader.draft.state not in tabs.AFTER_APPROVAL:
        return ()
    current = reader.retraction or reader.write
    return delivery.claim_facts(reader.draft.target.dispatch_claim, current, reader.now)


def _dock(reader: Reader, built: Rail) -> Dock | None:
    if built.form is None:
        return None
    return Dock(built.form.version, built.form.short, expiry.expiry(built.expiry.at, reader.now))
