"""What a newcomer finds: two rooms, five users, and drafts in many states, some of which wait for ben."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import make_password

from approvals.domain.actor import system
from approvals.domain.gate import Verdict
from approvals.models import Channel, Draft, Room, User
from approvals.services import configure, revise, revoke
from approvals.services.door import database_now
from reviewroom.demo.rooms import CHANNEL, PEOPLE, ROOM, apply, decided, document, person, proposed, tracker_url

COMMAND = "load_demo"


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a run did: whether it made everything, and what it changed."""

    is_new: bool
    changes: list[str]


def load() -> Loaded:
    """Makes the demo once. A second run follows the tracker to another port, and finishes what was interrupted."""
    base_url = tracker_url(settings.REVIEWROOM_TRACKER_PORT)
    if Room.objects.filter(slug=ROOM).exists():
        changes = follow_tracker(base_url)
    else:
        changes = apply(document(base_url), command=COMMAND)
    if not all(user.has_usable_password() for user in User.objects.filter(username__in=PEOPLE)):
        give_passwords()
    is_new = not Draft.objects.filter(room__slug=ROOM).exists()
    if is_new:
        make_drafts()
    return Loaded(is_new, changes)


def follow_tracker(base_url: str) -> list[str]:
    """Moves the demo channel to the tracker's address of now; what people changed in the room stays."""
    channel = Channel.objects.select_related("config").filter(room__slug=ROOM, slug=CHANNEL).first()
    if channel is None or channel.config is None or channel.config.config.get("base_url") == base_url:
        return []

    def move(room: dict[str, Any]) -> None:
        for found in room["channels"]:
            if found["slug"] == CHANNEL:
                found["config"]["base_url"] = base_url

    actor = system(COMMAND, via="command")
    return configure.change_room(actor=actor, clock=database_now, slug=ROOM, change=move)


def give_passwords() -> None:
    """Lets the people log in, and max into the admin site."""
    encoded = make_password(settings.REVIEWROOM_DEMO_PASSWORD)
    User.objects.filter(username__in=PEOPLE).update(password=encoded)
    User.objects.filter(username="max").update(is_staff=True, is_superuser=True)


def make_drafts() -> None:
    """Proposes and decides as the cast would; the newest, which waits for ben, is the one to click first."""
    _sent_soon()
    _set_aside()
    _storefront()
    _waiting()


def _ticket(room: str, category: str, summary: str, details: str) -> dict[str, str]:
    return {"room": room, "category": category, "summary": summary, "details": details}


def _sent_soon() -> None:
    draft = proposed(
        "reply-bot",
        title="Light in the stairwell",
        payload=_ticket("Stairwell B", "electrical", "Light on the second landing is out", "Reported by two visitors."),
        note="Found in the inbox of the front desk.",
    )
    decided(draft, "cleo")


def _set_aside() -> None:
    """One draft in each state that waits for its author, or is over."""
    proposed(
        "ada",
        title="Door closer",
        payload=_ticket("Main entrance", "access", "Door slams shut", "The closer has lost its oil."),
        submit=False,
    )
    unclear = proposed(
        "reply-bot",
        title="Cold office",
        payload=_ticket("Room 2.14", "heating", "It is cold", "Please do something."),
    )
    decided(unclear, "cleo", Verdict.REQUEST_CHANGES, "Which radiator, and how cold? They will ask.")
    rude = proposed(
        "reply-bot",
        title="Coffee machine",
        payload=_ticket("Kitchen 1", "other", "Coffee machine broken AGAIN", "Third time this month!!!"),
    )
    decided(rude, "ben", Verdict.REJECT, "The machine belongs to the vendor; they have their own hotline.")
    twice = proposed(
        "ada",
        title="Dripping tap",
        payload=_ticket("Kitchen 2", "plumbing", "Tap drips", "One drop a second."),
    )
    revoke.withdraw(actor=person("ada"), clock=database_now, draft_id=twice.pk, reason="The caretaker fixed it.")


def _storefront() -> None:
    """Replies that two people have to agree on; one hides characters that a reader does not see."""
    ready = proposed(
        "reply-bot",
        "storefront",
        resource="locations/17/reviews/4411",
        title="Thank a regular",
        payload={"comment": "Thank you, Robin! The new terrace opens in May, and your table is kept."},
    )
    decided(ready, "cleo")
    decided(ready, "ben")
    half = proposed(
        "reply-bot",
        "storefront",
        resource="locations/17/reviews/4420",
        title="Answer a complaint",
        payload={"comment": "We are sorry about the wait on Saturday. Please write to service@northwind.example."},
        note="The guest waited 50 minutes.",
    )
    decided(half, "cleo", comment="Fine with me; Legal has to see the promise to answer.")
    proposed(
        "reply-bot",
        "storefront",
        resource="locations/17/reviews/4423",
        title="Point to the voucher page",
        payload={"comment": "Your voucher is at https://northw\u0456nd.example/\u202evouchers\u202c \u200b- enjoy!"},
        note="The link was copied from the guest's own message.",
    )


def _waiting() -> None:
    edited = proposed(
        "ada",
        title="Window does not close",
        payload=_ticket("Room 1.03", "other", "Window stuck", "The left window stays open a hand's width."),
    )
    closer = _ticket(
        "Room 1.03", "other", "Window cannot be closed", "The left window stays open a hand's width; rain."
    )
    revise.revise(
        actor=person("ada"),
        clock=database_now,
        draft_id=edited.pk,
        version=1,
        changes=revise.Changes(payload=closer),
        submit=True,
    )
    proposed(
        "reply-bot",
        title="Lift stuck on floor 3",
        payload=_ticket(
            "Lift 2",
            "electrical",
            "Lift 2 is stuck on floor 3",
            "Nobody is inside. The display shows E-17 since 08:40.\nThe stairs are open.",
        ),
        note="Three people wrote about it this morning.",
        context={"messages": 3, "first_seen": "08:40"},
    )


def waiting_for(name: str) -> list[Draft]:
    """Gives the drafts in review that somebody may decide on, newest first."""
    drafts = Draft.objects.filter(state="in_review", room__memberships__user__username=name)
    return list(
        drafts.filter(room__memberships__is_reviewer=True).exclude(exclusions__user__username=name).order_by("-id")
    )
