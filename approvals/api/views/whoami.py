"""Who am I, and which rooms do I see."""

from django.http import HttpRequest, HttpResponse
from ninja import Router

from approvals.api import answers, caller, reading, statuses
from approvals.api.documents import Me, Page, PausedDocument, RoomDocument
from approvals.domain.actor import Actor
from approvals.models import Channel, Membership, Room, User
from approvals.selectors import rooms

router = Router(tags=["who and where"])


@router.get("/me", response={200: Me, **statuses.ANY}, summary="Who the token speaks for")
def me(request: HttpRequest) -> HttpResponse:
    reading.only(request)
    actor = caller.of(request)
    scopes = sorted(actor.scopes or ())
    return answers.of_document(Me(name=actor.name, kind=actor.kind, scopes=scopes, acts_for=_persons(actor)))


@router.get("/rooms", response={200: Page[RoomDocument], **statuses.ANY}, summary="The rooms you are in")
def list_rooms(request: HttpRequest) -> HttpResponse:
    reading.only(request)
    items = [_room(member) for member in rooms.memberships(caller.of(request))]
    return answers.of_document(Page[RoomDocument](items=items, next_cursor=None))


def paused(row: Room | Channel) -> PausedDocument | None:
    return PausedDocument(at=row.paused_at, reason=row.paused_reason) if row.paused_at else None


def _persons(actor: Actor) -> list[str]:
    """Gives whom an agent's token may name: the one it is bound to, else all of the agent's."""
    persons = User.objects.filter(agents=actor.person_id).order_by("username")
    if actor.acts_for_id is not None:
        persons = persons.filter(pk=actor.acts_for_id)
    return list(persons.values_list("username", flat=True))


def _room(member: Membership) -> RoomDocument:
    room = member.room
    return RoomDocument(
        slug=room.slug,
        name=room.name,
        roles=list(member.roles),
        groups=member.groups,
        paused=paused(room),
        links={"channels": f"/v1/rooms/{room.slug}/channels", "drafts": f"/v1/drafts?room={room.slug}"},
    )
