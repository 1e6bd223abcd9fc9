"""What stands around every page: the nav with its counts, and who is logged in."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from approvals.models import Membership, User
from approvals.selectors import queue as reads
from approvals.web import words
from approvals.web.cards.people import Who, who


@dataclass(frozen=True, slots=True)
class NavRoom:
    slug: str
    name: str
    url: str
    count: str


@dataclass(frozen=True, slots=True)
class Nav:
    """`current` is `turn`, `everything`, a room's slug, or empty."""

    turn: str
    everything: str
    rooms: tuple[NavRoom, ...]
    person: Who
    roles: str
    current: str


@dataclass(frozen=True, slots=True)
class Crumb:
    label: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    tone: str
    icon: str
    title: str
    text: str = ""
    alert: bool = False
    url: str = ""
    link: str = ""


def nav(user: User, members: list[Membership], now: datetime, *, current: str) -> Nav:
    """Gives the nav: a person's turn in all and in each room, and how much there is."""
    turns = reads.turn_per_room(reads.your_turn(user, members, now))
    everything = reads.capped_count(reads.drafts_in(member.room_id for member in members))
    return Nav(
        turn=words.capped(sum(turns.values())),
        everything=words.capped(everything),
        rooms=tuple(_room(member, turns[member.room_id]) for member in members),
        person=who(user),
        roles=roles(members),
        current=current,
    )


def roles(members: Iterable[Membership]) -> str:
    """Gives `Reviewer, legal`: what somebody is, over all their rooms."""
    found = list(members)
    names = list(dict.fromkeys(role.capitalize() for member in found for role in member.roles))
    groups = list(dict.fromkeys(str(group) for member in found for group in member.groups))
    return ", ".join((*names, *groups)) or "No room yet"


def _room(member: Membership, turn: int) -> NavRoom:
    room = member.room
    return NavRoom(room.slug, room.name, reverse("room", args=[room.slug]), words.capped(turn))
