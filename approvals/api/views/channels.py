"""What may be proposed where, and stopping what goes out."""

from django.http import HttpRequest, HttpResponse
from ninja import Router

from approvals.api import answers, caller, reading, statuses
from approvals.api.bodies import EmptyBody, ReasonBody
from approvals.api.documents import (
    ChannelDocument,
    Channels,
    Limits,
    OperationDocument,
    Paused,
    PolicyDocument,
    RequirementDocument,
)
from approvals.api.views.whoami import paused
from approvals.domain import binding, strict_json, words
from approvals.domain.policy import Policy
from approvals.models import Channel, Room
from approvals.models.clock import database_now
from approvals.selectors import rooms
from approvals.services import pause, rendering
from approvals.services.intent import LONGEST_WAIT

router = Router(tags=["rooms and channels"])
READS = {200: Channels, **statuses.READS}
PAUSES = {200: Paused, **statuses.WRITES}
LIMITS = Limits(
    request_bytes=strict_json.MAX_RAW_BYTES,
    canonical_bytes=binding.MAX_CANONICAL_BYTES,
    depth=binding.MAX_DEPTH,
    resource_bytes=binding.MAX_RESOURCE_BYTES,
    title_characters=words.TITLE_LIMIT,
    text_characters=words.TEXT_LIMIT,
    reason_characters=words.REASON_LIMIT,
    not_before_days=LONGEST_WAIT.days,
)


@router.get("/rooms/{slug:slug}/channels", response=READS, summary="Channels, operations, schemas and limits")
def list_channels(request: HttpRequest, slug: str) -> HttpResponse:
    reading.only(request)
    room = rooms.get(caller.of(request), slug)
    items = [_channel(channel) for channel in rooms.channels_of(room)]
    return answers.of_document(Channels(items=items, limits=LIMITS))


@router.post("/channels/{slug:room}/{slug:slug}/pause", response=PAUSES, summary="Stop sending by a channel")
def pause_channel(request: HttpRequest, room: str, slug: str, body: ReasonBody) -> HttpResponse:
    channel = rooms.find_channel(room, slug)
    actor = caller.of(request)
    return _of_channel(pause.pause_channel(actor=actor, clock=database_now, channel=channel, reason=body.reason))


@router.post("/channels/{slug:room}/{slug:slug}/resume", response=PAUSES, summary="Let a channel send again")
def resume_channel(request: HttpRequest, room: str, slug: str, body: EmptyBody | None = None) -> HttpResponse:
    channel = rooms.find_channel(room, slug)
    return _of_channel(pause.resume_channel(actor=caller.of(request), clock=database_now, channel=channel))


@router.post("/rooms/{slug:slug}/pause", response=PAUSES, summary="Stop sending from a room")
def pause_room(request: HttpRequest, slug: str, body: ReasonBody) -> HttpResponse:
    room = rooms.find(slug)
    return _of_room(pause.pause_room(actor=caller.of(request), clock=database_now, room=room, reason=body.reason))


@router.post("/rooms/{slug:slug}/resume", response=PAUSES, summary="Let a room send again")
def resume_room(request: HttpRequest, slug: str, body: EmptyBody | None = None) -> HttpResponse:
    room = rooms.find(slug)
    return _of_room(pause.resume_room(actor=caller.of(request), clock=database_now, room=room))


def _of_channel(row: Channel) -> HttpResponse:
    return answers.of_document(Paused(room=row.room.slug, channel=row.slug, paused=paused(row)))


def _of_room(row: Room) -> HttpResponse:
    return answers.of_document(Paused(room=row.slug, channel=None, paused=paused(row)))


def _channel(row: Channel) -> ChannelDocument:
    config = row.config
    assert config is not None
    return ChannelDocument(
        slug=row.slug,
        name=row.name,
        connector=row.connector,
        account=config.account,
        resource=config.resource or None,
        resource_pattern=config.resource_pattern or None,
        concurrency=row.concurrency,
        idempotent=config.idempotent,
        operations={
            name: OperationDocument(
                payload_schema=declared.get("schema"), capabilities=sorted(rendering.capabilities(config, name))
            )
            for name, declared in sorted(config.operations.items())
        },
        policy=_policy(row.effective_policy()),
        paused=paused(row),
    )


def _policy(rules: Policy) -> PolicyDocument:
    return PolicyDocument(
        required_approvals=rules.required_approvals,
        requirements=[RequirementDocument(group=item.group, minimum=item.minimum) for item in rules.requirements],
        reject_threshold=rules.reject_threshold,
        review_ttl_seconds=rules.review_ttl.total_seconds(),
        approval_ttl_seconds=rules.approval_ttl.total_seconds(),
        dispatch=rules.dispatch,
        dispatch_delay_seconds=rules.dispatch_delay.total_seconds(),
        one_open_draft=rules.one_open_draft,
        duplicates=rules.duplicates,
    )
