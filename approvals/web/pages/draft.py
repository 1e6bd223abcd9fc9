"""The page of one draft: destination, revision, content, decision, in this order for eye and ear."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.urls import reverse

from approvals.domain.binding import Binding, short
from approvals.domain.gate import Verdict
from approvals.domain.states import ApprovalState, DeliveryState, DraftState
from approvals.models import Delivery, Draft
from approvals.services import rendering
from approvals.web import view_token, words
from approvals.web.cards import delivery, expiry, payload, people, plate, rail, revision
from approvals.web.cards.delivery import Fact
from approvals.web.cards.expiry import Expiry
from approvals.web.cards.people import Who
from approvals.web.cards.plate import Plate
from approvals.web.cards.rail import Rail
from approvals.web.cards.revision import RevisionCard
from approvals.web.pages import actions, tabs
from approvals.web.pages.actions import Action, Link
from approvals.web.pages.frame import Crumb, Notice
from approvals.web.pages.reader import Reader
from approvals.web.pages.tabs import Tab
from approvals.web.view_token import View


@dataclass(frozen=True, slots=True)
class Dock:
    version: int
    short: str
    expiry: Expiry


@dataclass(frozen=True, slots=True)
class Typed:
    """What somebody typed and what was wrong with it, when a form comes back; and what was just done."""

    comment: str = ""
    comment_fault: str = ""
    action: tuple[str, str, str] | None = None
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
    plate: Plate
    revision: RevisionCard
    tabs: tuple[Tab, ...]
    tab_template: str
    body: Any
    rail: Rail
    delivery_facts: tuple[Fact, ...]
    claim_facts: tuple[Fact, ...]
    actions: tuple[Action, ...]
    links: tuple[Link, ...]
    notices: tuple[Notice, ...]
    dock: Dock | None
    watch_url: str
    done: str = ""
    next: Link | None = None


def page(reader: Reader, *, tab: str, as_hex: bool = False, typed: Typed = Typed()) -> DraftPage:
    """Gives the page with one tab open. The decision form is there only where the tab holds the whole content."""
    draft = reader.draft
    binding = rendering.binding_of(reader.revision)
    url = reverse("draft", args=[draft.pk])
    hidden = payload.hidden(binding.payload, list(payload.fields(binding.payload)))
    opened = tabs.opened(reader, binding, hidden, name=tab, as_hex=as_hex, url=url)
    write = _write(reader)
    built = _rail(reader, typed, opened, write, url=url, hidden_count=hidden.count if hidden else 0)
    waits = draft.state == DraftState.SUBMITTING and write is not None and write.state == DeliveryState.WAITING
    return DraftPage(
        crumbs=crumbs(reader),
        title=draft.title,
        state=draft.state,
        says=_says(draft, write, waits=waits),
        author=people.who(draft.author, draft.acts_for, reader=reader.user),
        created_at=draft.created_at,
        edited_at=reader.revision.created_at if draft.version > 1 else None,
        plate=plate.of_draft(draft, waits=waits),
        revision=revision.card(draft, reader.revision, changes_url=f"{url}?tab=changes"),
        tabs=opened.tabs,
        tab_template=opened.template,
        body=opened.body,
        rail=built,
        delivery_facts=_delivery_facts(reader, write),
        claim_facts=_claim_facts(reader, write),
        actions=actions.actions(reader, fault=typed.action),
        links=actions.links(reader),
        notices=tuple(_notices(reader, binding)),
        dock=_dock(reader, built),
        watch_url=f"{reverse('news', args=[draft.pk])}?version={draft.version}&seq={draft.seq}" if built.form else "",
        done=typed.done,
        next=typed.next,
    )


def crumbs(reader: Reader) -> tuple[Crumb, ...]:
    room = reader.draft.room
    return (
        Crumb("Your turn", reverse("inbox")),
        Crumb(room.name, reverse("room", args=[room.slug])),
        Crumb(reader.draft.reference),
    )


def _says(draft: Draft, write: Delivery | None, *, waits: bool) -> str:
    """Says beside the badge what its state means for this very draft."""
    if waits:
        return "Waits to be sent again"
    if draft.state == DraftState.SUBMITTED and write is not None and write.verification in words.READ_BACK_SAYS:
        return words.READ_BACK_SAYS[write.verification]
    return words.STATE_SAYS[DraftState(draft.state)]


def _rail(
    reader: Reader, typed: Typed, opened: tabs.Opened, write: Delivery | None, *, url: str, hidden_count: int
) -> Rail:
    approval = reader.approval
    left, label = rail.time_left(approval, reader.now)
    shown = Rail(
        expiry=left,
        expiry_label=label,
        outcome=rail.outcome(reader.draft, write.verification if write else ""),
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


def _write(reader: Reader) -> Delivery | None:
    return next((row for row in reader.deliveries if row.kind == Delivery.Kind.WRITE), None)


def _delivery_facts(reader: Reader, write: Delivery | None) -> tuple[Fact, ...]:
    if reader.draft.state not in tabs.AFTER_APPROVAL:
        return ()
    return delivery.facts(reader.draft, write, len(reader.revision.canonical))


def _claim_facts(reader: Reader, write: Delivery | None) -> tuple[Fact, ...]:
    if reader.draft.state not in tabs.AFTER_APPROVAL:
        return ()
    return delivery.claim_facts(reader.draft.target.dispatch_claim, write, reader.now)


def _notices(reader: Reader, binding: Binding) -> list[Notice]:
    draft, found = reader.draft, []
    if binding.digest != reader.revision.digest:
        text = "The stored bytes do not match the digest of this revision. Decide nothing; tell an operator."
        found.append(Notice("bad", "alert", "These bytes were altered", text))
    if draft.state == DraftState.IN_REVIEW and draft.reason:
        found.append(Notice("amber", "info", "It is in review again", draft.reason))
    if (draft.room.paused_at or draft.channel.paused_at) and draft.state in tabs.MOVING:
        text = f"{draft.room.paused_reason or draft.channel.paused_reason} You can decide; nothing is sent meanwhile."
        found.append(Notice("amber", "pause", "Sending is paused", text))
    return found


def _dock(reader: Reader, built: Rail) -> Dock | None:
    if built.form is None:
        return None
    return Dock(built.form.version, built.form.short, expiry.expiry(built.expiry.at, reader.now))
