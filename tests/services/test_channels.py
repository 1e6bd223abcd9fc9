"""Channels: a numbered series of immutable configurations; a change or an end is felt by what is being reviewed."""

from typing import Any

import pytest

from approvals.domain import errors
from approvals.domain.states import DraftState
from approvals.models import Approval, Channel, ChannelConfig, OutboxEvent
from tests.cast import CONFIG, Story
from tests.services import states, variations
from tests.services.record import emitted, outcome

OTHER = {
    "slug": "shop",
    "connector": "fake",
    "account": "facilities",
    "resource": "order",
    "operations": {"order.create": {}},
}


def test_a_new_configuration_is_a_new_row_and_the_old_one_stays(story: Story) -> None:
    story.configure(variations.channel("tickets", config={"tone": "kind"}))
    channel = Channel.objects.get(slug="tickets")
    configs = ChannelConfig.objects.filter(channel=channel).order_by("number")
    assert [(config.number, config.config) for config in configs] == [(1, {}), (2, {"tone": "kind"})]
    assert channel.config == configs[1]


@pytest.mark.parametrize("state", [DraftState.IN_REVIEW, DraftState.APPROVED])
def test_a_new_configuration_supersedes_live_approvals_and_bumps_no_version(story: Story, state: DraftState) -> None:
    draft = states.build(story, state)
    old = story.approval(draft)
    story.configure(variations.channel("tickets", config={"tone": "kind"}))
    fresh = story.approval(draft)
    assert (outcome(old), fresh.state, fresh.config.number) == ("superseded", "pending", 2)
    assert Approval.objects.get(pk=old.pk).superseded_by == fresh
    assert fresh.target_version == old.target_version == 1
    assert story.again(draft).state == "in_review"


def test_a_new_configuration_does_not_touch_other_channels(story: Story) -> None:
    draft = story.approved(resource="locations/1/reviews/1")
    story.configure(variations.channel("tickets", config={"tone": "kind"}))
    assert states.send(story) == {"delivered": 1}
    assert story.again(draft).state == "submitted"


def test_what_is_in_flight_keeps_the_configuration_it_was_begun_with(story: Story) -> None:
    draft = states.build(story, DraftState.SUBMITTING)
    story.configure(variations.channel("tickets", config={"tone": "kind"}))
    story.clock.advance(hours=1)
    assert states.send(story) == {"delivered": 1}
    assert [job.settings.config for job in story.remote.sent] == [{}, {}]
    assert story.approval(draft).delivery.config.number == 1


def test_a_channels_stricter_policy_supersedes_what_is_pending(story: Story) -> None:
    draft = story.propose()
    old = story.approval(draft)
    story.configure(variations.channel("tickets", policy={"required_approvals": 3}))
    assert outcome(old) == "superseded"
    assert story.approval(draft).required_approvals == 3


def test_a_new_name_changes_nothing_that_was_approved(story: Story) -> None:
    draft = story.approved()
    old = story.approval(draft)
    story.configure(variations.channel("tickets", name="Tracker"))
    assert (Channel.objects.get(slug="tickets").name, outcome(old)) == ("Tracker", "approved")


@pytest.mark.parametrize("state", [DraftState.IN_REVIEW, DraftState.APPROVED])
def test_a_retired_channel_revokes_live_approvals(story: Story, state: DraftState) -> None:
    draft = states.build(story, state)
    told = story.configure(variations.without_channel("tickets"))
    after = story.again(draft)
    assert (after.state, after.reason) == ("revoked", "The channel was retired.")
    assert f"{draft.reference}: approval revoked, for its channel was retired" in told
    assert emitted()[-1] == "revocation"
    assert states.send(story) == {}


def test_a_retired_channel_leaves_what_was_sent_to_the_reconciler(story: Story) -> None:
    draft = states.build(story, DraftState.SUBMITTED)
    story.configure(variations.without_channel("tickets"))
    assert states.read_back(story) == {"confirmed": 1}
    assert story.again(draft).state == "confirmed"


def test_a_retired_channel_takes_no_proposals_and_can_be_used_again(story: Story) -> None:
    story.configure(variations.without_channel("tickets"))
    with pytest.raises(errors.InvalidPayload, match="Its channels: replies"):
        story.propose()
    story.configure(CONFIG)
    assert story.propose().state == "in_review"
    assert ChannelConfig.objects.filter(channel__slug="tickets").count() == 1


HTTP = {"item.create": {"send": {"method": "POST", "url": "https://192.0.2.7/items", "id_pointer": "/id"}}}


@pytest.mark.parametrize(
    ("field", "values"),
    [("concurrency", {"concurrency": "exclusive"}), ("connector", {"connector": "http", "operations": HTTP})],
)
def test_what_a_channel_is_stays(story: Story, settings: Any, field: str, values: dict[str, Any]) -> None:
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = True  # the address is one for documentation
    with pytest.raises(errors.InvalidPayload, match="Add a channel with another slug") as refused:
        story.configure(variations.channel("tickets", **values))
    assert refused.value.pointer == f"/rooms/0/channels/0/{field}"


def _with(**values: Any) -> dict[str, Any]:
    """The cast's room with one more channel, and a host for the first one."""
    document = variations.channel("tickets", config={"base_url": "https://tracker.test/rest"})
    document["rooms"][0]["channels"].append(OTHER | values)
    return document


def test_one_account_stands_for_one_host(story: Story) -> None:
    with pytest.raises(errors.InvalidPayload, match="another account name") as refused:
        story.configure(_with(config={"base_url": "https://elsewhere.test/rest"}))
    assert refused.value.pointer == "/rooms/0/channels/2/account"
    assert Channel.objects.count() == 2


@pytest.mark.parametrize(
    "lawful",
    [
        {"config": {"base_url": "https://tracker.test/other"}},
        {"account": "other", "config": {"base_url": "https://elsewhere.test/rest"}},
    ],
)
def test_one_host_may_have_several_channels_and_another_account_another_host(
    story: Story, lawful: dict[str, Any]
) -> None:
    story.configure(_with(**lawful))
    assert Channel.objects.count() == 3


@pytest.mark.parametrize(
    "resource",
    [
        {"resource": "issue"},
        {"resource": "", "resource_pattern": "*"},
        {"account": "northwind", "resource": "locations/1/reviews/2"},
    ],
)
def test_one_resource_belongs_to_one_channel(story: Story, resource: dict[str, str]) -> None:
    with pytest.raises(errors.InvalidPayload, match="same resource"):
        story.configure(_with(**resource))


def test_that_holds_between_rooms_too(story: Story) -> None:
    with pytest.raises(errors.InvalidPayload, match="facilities/tickets can write to the same resource"):
        story.configure(variations.another_room(OTHER | {"resource": "issue"}))
    story.configure(variations.another_room(OTHER))
    assert Channel.objects.get(slug="shop").room.slug == "shops"


def test_a_retired_channel_gives_its_resource_free(story: Story) -> None:
    document = variations.without_channel("tickets")
    document["rooms"][0]["channels"].append(OTHER | {"resource": "issue"})
    story.configure(document)
    assert Channel.objects.filter(retired_at=None).count() == 2


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ({"connector": "fax"}, "/connector"),
        ({"policy": {"required_approvals": "two"}}, "/policy/required_approvals"),
        ({"resource": "", "resource_pattern": ""}, ""),
        ({"resource_pattern": "*"}, ""),
        ({"operations": {}}, ""),
        ({"account": ""}, "/account"),
        ({"slug": "Not A Slug"}, "/slug"),
    ],
)
def test_a_wrong_channel_is_pointed_at(story: Story, values: dict[str, Any], pointer: str) -> None:
    with pytest.raises(errors.InvalidPayload) as refused:
        story.configure(_with(**values))
    assert refused.value.pointer == f"/rooms/0/channels/2{pointer}"
    assert not OutboxEvent.objects.exists()
