"""Propose: a person or an agent brings an action before the room."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from approvals.domain import binding as bindings
from approvals.domain import words
from approvals.domain.actor import Actor
from approvals.domain.errors import NotFound
from approvals.models import Draft, Room, User
from approvals.permissions import Verb, require
from approvals.services import audit, authority, corrections, door, intent
from approvals.services.door import Clock, Key, Subject
from approvals.services.intent import Intent


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is proposed, as received; nothing in it has been checked. `corrects` names a published draft."""

    channel: Any
    operation: Any
    payload: Any
    title: Any = ""
    resource: Any = None
    note: Any = ""
    context: Any = None
    submit: bool = True
    acts_for: Any = None
    corrects: Any = None
    not_before: datetime | None = None


def propose(
    *,
    actor: Actor,
    clock: Clock,
    room_slug: str,
    proposal: Proposal,
    key: Key | None = None,
    dry_run: bool = False,
) -> Draft:
    """Makes a draft with its first revision and, unless told otherwise, submits it for review.

    A dry run checks everything and keeps nothing: the draft it gives has no row. Raises InvalidPayload, TooLarge,
    NotEligible, NotFound, OpenDraftExists, Duplicate or Unsupported.
    """
    room = Room.objects.filter(slug=room_slug).first()

    def body() -> Draft:
        if room is None:
            raise NotFound()  # in the words a stranger to a real room gets
        draft = _propose(actor=actor, clock=clock, room=room, proposal=proposal)
        if dry_run:
            transaction.set_rollback(True)
        return draft

    return door.run(
        body,
        actor=actor,
        verb=Verb.PROPOSE,
        subject=Subject(room_id=room.pk if room else None),
        key=None if dry_run else key,
        name=lambda draft: f"draft:{draft.pk}",
    )


def _propose(*, actor: Actor, clock: Clock, room: Room, proposal: Proposal) -> Draft:
    require(actor, Verb.PROPOSE, room_id=room.pk)
    person = intent.acted_for(actor, proposal.acts_for)
    original = corrections.named(room, proposal.corrects)
    found = intent.resolve(
        room=room,
        channel_slug=proposal.channel,
        resource=proposal.resource,
        operation=proposal.operation,
        payload=proposal.payload,
        now=clock(),
        corrects=original,
    )
    now = clock()
    intent.check_rivals(found, room=room, now=now)
    draft = _new_draft(proposal, found, original, room=room, actor=actor, person=person, now=now)
    revision = intent.add_revision(draft, found, number=1, actor=actor, acts_for=person, now=now)
    audit.of_draft(draft, actor=actor, action="draft.proposed", now=now, digest=revision.digest)
    if proposal.submit:
        submit_in(draft, actor=actor, now=now)
    return draft


def submit_in(draft: Draft, *, actor: Actor, now: datetime) -> None:
    """Opens an approval for the draft's newest revision and moves the draft into review. Inside a door only."""
    approval = authority.open_approval(draft, authority.current_revision(draft), actor=actor, now=now)
    draft.submit()
    draft.reason = ""
    draft.save_move("approval", "reason", *draft.touch(now, due_at=approval.expires_at), version=draft.version)
    audit.of_draft(draft, actor=actor, action="draft.submitted", now=now, approval_id=str(approval.pk))


def said(title: Any, note: Any, context: Any, *, fallback: str) -> dict[str, Any]:
    """Checks the proposer's own words, which nobody approves: title, note and context."""
    if context is not None:
        bindings.check_value(context, "/context")
    return {
        "title": words.checked(title or fallback[: words.TITLE_LIMIT], pointer="/title", limit=words.TITLE_LIMIT),
        "note": words.checked(note or "", pointer="/note"),
        "context": context,
    }


def _new_draft(
    proposal: Proposal,
    found: Intent,
    original: Draft | None,
    *,
    room: Room,
    actor: Actor,
    person: User | None,
    now: datetime,
) -> Draft:
    draft: Draft = Draft.objects.create(
        room=room,
        channel=found.channel,
        target=found.target,
        operation=found.operation,
        author_id=actor.person_id,
        acts_for=person,
        corrects=original,
        not_before=intent.check_not_before(proposal.not_before, now),
        due_at=now,
        created_at=now,
        updated_at=now,
        **said(proposal.title, proposal.note, proposal.context, fallback=f"{found.operation} {found.target.resource}"),
    )
    return draft
