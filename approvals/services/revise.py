"""Revise and submit: change the bytes, and bring them (again) before the room."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from approvals.domain.actor import Actor
from approvals.domain.errors import LostRace, NotFound, StaleRevision, WrongState
from approvals.domain.states import DRAFT, OPEN_DRAFT
from approvals.models import Approval, Draft, Revision
from approvals.permissions import Verb, require
from approvals.services import audit, authority, corrections, door, intent, locks, rendering
from approvals.services.door import Clock, Key, Subject
from approvals.services.intent import Intent
from approvals.services.propose import said, submit_in

KEEP: Any = object()
"""Stands for a field that is left as it is."""

_REVISABLE = {*DRAFT.edge("submit").sources, *DRAFT.edge("expire").sources}


@dataclass(frozen=True, slots=True)
class Changes:
    """What should differ from the draft's newest revision; whatever is KEEP stays."""

    payload: Any = KEEP
    operation: Any = KEEP
    channel: Any = KEEP
    resource: Any = KEEP
    title: Any = KEEP
    note: Any = KEEP
    context: Any = KEEP


@dataclass(frozen=True, slots=True)
class Revised:
    """The draft afterwards, and whether a byte changed: a save that changes none is no revision."""

    draft: Draft
    changed: bool


def revise(
    *, actor: Actor, clock: Clock, draft_id: int, version: int, changes: Changes, submit: bool = True
) -> Revised:
    """Saves changes made on `version` of a draft; live approvals of other bytes end with it.

    Raises StaleRevision if the draft has moved on, InvalidPayload, WrongState, Consumed, NotEligible, NotFound.
    """
    return door.run(
        lambda: _revise(actor=actor, clock=clock, draft_id=draft_id, version=version, changes=changes, submit=submit),
        actor=actor,
        verb=Verb.REVISE,
        subject=Subject(draft_id=draft_id),
    )


def submit(*, actor: Actor, clock: Clock, draft_id: int, version: int | None = None, key: Key | None = None) -> Draft:
    """Brings the newest revision before the room. Submitting what is in review already changes nothing."""

    def body() -> Draft:
        draft = _locked_with_target(draft_id)
        now = clock()
        require(actor, Verb.SUBMIT, draft=draft)
        _check_version(draft, draft.version if version is None else version)
        if draft.state not in DRAFT.edge("submit").sources:
            if draft.approval is not None and draft.approval.is_live:
                return draft
            raise authority.wrong_state(draft, "submitted")
        _check_alone(draft)
        _check_correction(draft)
        submit_in(draft, actor=actor, now=now)
        return draft

    return door.run(
        body,
        actor=actor,
        verb=Verb.SUBMIT,
        subject=Subject(draft_id=draft_id),
        key=key,
        name=lambda draft: f"draft:{draft.pk}",
    )


def _revise(*, actor: Actor, clock: Clock, draft_id: int, version: int, changes: Changes, submit: bool) -> Revised:
    seen = Draft.objects.select_related("room", "channel__config", "target").filter(pk=draft_id).first()
    if seen is None:
        raise NotFound()
    require(actor, Verb.REVISE, draft=seen)
    found = _intent(seen, changes, clock)  # first, because the target is locked before the draft
    draft = locks.draft(draft_id)
    now = clock()
    _check_version(draft, version)
    if draft.state not in _REVISABLE:
        raise authority.wrong_state(draft, "edited; copy it into a new draft instead")
    revision = authority.current_revision(draft)
    changed = found.binding.canonical != bytes(revision.canonical)
    live = draft.approval if draft.approval is not None and draft.approval.is_live else None
    spoken = _said(draft, changes, frozen=live is not None and not changed)
    if changed:
        intent.check_rivals(found, room=draft.room, now=now, draft_id=draft.pk)
        revision = _next_revision(draft, found, actor=actor, now=now)
    elif submit or spoken:
        _check_alone(draft)
    _settle(draft, revision, live=live, changed=changed, submit=submit, spoken=spoken, actor=actor, now=now)
    return Revised(draft, changed)


def _locked_with_target(draft_id: int) -> Draft:
    """Locks the draft behind its target, under whose lock rivals are compared."""
    target_id: int | None = Draft.objects.filter(pk=draft_id).values_list("target_id", flat=True).first()
    if target_id is None:
        raise NotFound()
    locks.target(target_id)
    draft = locks.draft(draft_id)
    if draft.target_id != target_id:
        raise LostRace(f"{draft.reference} was given another target")
    return draft


def _check_alone(draft: Draft) -> None:
    """Lets an ended draft be opened again only where no other draft has taken its place."""
    if draft.state not in OPEN_DRAFT:
        intent.check_alone(draft.channel, draft.target, room=draft.room, draft_id=draft.pk)


def _check_correction(draft: Draft) -> None:
    """Lets a correction come before the room only while what it corrects stands as it was bound."""
    config = draft.channel.config
    if draft.corrects is None or config is None:
        return
    bound = corrections.binding_of(
        draft.corrects, config=config, operation=draft.operation, target=draft.target, draft_id=draft.pk
    )
    if rendering.binding_of(authority.current_revision(draft)).corrects != bound:
        raise WrongState(
            f"What {draft.corrects.reference} published is another object by now. Propose a new correction.",
            draft_id=draft.pk,
        )


def _intent(draft: Draft, changes: Changes, clock: Clock) -> Intent:
    """Binds the changed action. What changes leave out comes from the draft as seen; its version is compared later."""
    config = draft.channel.config
    moved = changes.channel is not KEEP and changes.channel != draft.channel.slug
    fixed = config is not None and config.resource
    kept_resource = None if moved or fixed else draft.target.resource
    return intent.resolve(
        room=draft.room,
        channel_slug=draft.channel.slug if changes.channel is KEEP else changes.channel,
        resource=kept_resource if changes.resource is KEEP else changes.resource,
        operation=draft.operation if changes.operation is KEEP else changes.operation,
        payload=_payload(draft) if changes.payload is KEEP else changes.payload,
        now=clock(),
        corrects=draft.corrects,
        draft_id=draft.pk,
    )


def _payload(draft: Draft) -> Any:
    return rendering.binding_of(authority.current_revision(draft)).payload


def _check_version(draft: Draft, version: int) -> None:
    if draft.version != version:
        raise StaleRevision(
            f"You edited version {version}, but {draft.reference} is at version {draft.version}. Your text was not "
            "saved; compare both and save again.",
            draft_id=draft.pk,
        )


def _said(draft: Draft, changes: Changes, *, frozen: bool) -> dict[str, Any]:
    """Gives the proposer's words that change. They are fixed while an approval of the same bytes is live."""
    wanted = {
        name: getattr(draft, name) if getattr(changes, name) is KEEP else getattr(changes, name)
        for name in ("title", "note", "context")
    }
    checked = said(wanted["title"], wanted["note"], wanted["context"], fallback=draft.title)
    different = {name: value for name, value in checked.items() if value != getattr(draft, name)}
    if different and frozen:
        raise WrongState(
            "Title, note and context are fixed while the draft is reviewed or approved. Withdraw it first, or change "
            "the content as well.",
            draft_id=draft.pk,
        )
    return different


def _next_revision(draft: Draft, found: Intent, *, actor: Actor, now: datetime) -> Revision:
    draft.version += 1
    draft.channel, draft.target, draft.operation = found.channel, found.target, found.operation
    person = intent.acted_for(actor, draft.acts_for.username if draft.acts_for and actor.kind == "agent" else None)
    revision = intent.add_revision(draft, found, number=draft.version, actor=actor, acts_for=person, now=now)
    audit.of_draft(draft, actor=actor, action="draft.revised", now=now, digest=revision.digest)
    return revision


def _settle(
    draft: Draft,
    revision: Revision,
    *,
    live: Approval | None,
    changed: bool,
    submit: bool,
    spoken: dict[str, Any],
    actor: Actor,
    now: datetime,
) -> None:
    """Moves the draft to where the save leaves it and writes it by one conditional update."""
    was_version = draft.version - int(changed)
    for name, value in spoken.items():
        setattr(draft, name, value)
    columns = {"version", "channel", "target", "operation", "approval", "reason", *spoken}
    due_at = draft.due_at
    if live is not None and changed:
        due_at = _replace(draft, live, revision, actor=actor, now=now)
    elif live is None and submit:
        opened = authority.open_approval(draft, revision, actor=actor, now=now)
        draft.submit()
        draft.reason = ""
        due_at = opened.expires_at
    elif live is None and (changed or spoken) and draft.state in DRAFT.edge("rework").sources:
        draft.rework()
    elif not changed and not spoken:
        return
    draft.save_move(*columns, *draft.touch(now, due_at=due_at), version=was_version)
    audit.of_draft(draft, actor=actor, action="draft.saved", now=now, changed=changed)


def _replace(draft: Draft, live: Approval, revision: Revision, *, actor: Actor, now: datetime) -> datetime:
    old = locks.approval(live.pk, draft=draft)
    reason = f"Replaced by revision {revision.number}."
    fresh = authority.replace_approval(draft, old, revision, verb="supersede", actor=actor, now=now, reason=reason)
    draft.reason = ""
    if draft.state in DRAFT.edge("reopen").sources:
        draft.reopen()
    return fresh.expires_at
