import json

import pytest
from django.urls import reverse

from approvals.models import AuditEvent, Channel, ChannelConfig, Membership, Room
from tests.admin.conftest import logged_in, rows


@pytest.fixture
def room(story):
    return Room.objects.get(slug="facilities")


def page(row):
    return reverse(f"admin:approvals_{row._meta.model_name}_change", args=[row.pk])


def add(model):
    return reverse(f"admin:approvals_{model._meta.model_name}_add")


def channel_values(channel, **changes):
    config = channel.config
    values = {
        "name": channel.name,
        "in_use": "on",
        "policy": json.dumps(channel.policy),
        "account": config.account,
        "resource": config.resource,
        "resource_pattern": config.resource_pattern,
        "secret": config.secret,
        "config": json.dumps(config.config),
        "operations": json.dumps(config.operations),
    }
    values |= {"idempotent": "on"} if config.idempotent else {}
    return values | changes


def test_a_policy_is_saved(room, site):
    site.post(page(room), {"name": room.name, "policy": '{"required_approvals": 3}'})
    assert Room.objects.get().policy == {"required_approvals": 3}


def test_a_policy_change_is_in_the_rooms_history(room, site):
    site.post(page(room), {"name": room.name, "policy": '{"required_approvals": 3}'})
    assert AuditEvent.objects.get(action="policy.changed").actor == "person:max"


def test_a_stricter_policy_sends_what_waits_back_to_review(story, room, site):
    draft = story.propose()
    old = story.approval(draft)
    site.post(page(room), {"name": room.name, "policy": '{"required_approvals": 3}'})
    assert story.approval(draft).supersedes.get() == old


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ('{"required_approvals": 0}', "Give a whole number from 1 to 100."),
        ('{"require": 1}', "There is no policy rule"),
        ('{"required_approvals": 1, "required_approvals": 2}', "stands more than once"),
        ("[1]", "dictionary"),
        ("{", "line 1"),
    ],
)
def test_a_wrong_policy_is_refused_at_the_field(room, site, policy, told):
    answer = site.post(page(room), {"name": room.name, "policy": policy})
    assert told in " ".join(answer.context["adminform"].form.errors["policy"])


def test_a_refused_text_is_kept(room, site):
    answer = site.post(page(room), {"name": "Other name", "policy": '{"required_approvals": 0}'})
    assert [
        text for text in ("Other name", "&quot;required_approvals&quot;: 0") if text not in answer.content.decode()
    ] == []


def test_a_refused_change_changes_nothing(room, site):
    before = Room.objects.values().get()
    site.post(page(room), {"name": "Other name", "policy": '{"required_approvals": 0}'})
    assert Room.objects.values().get() == before


def test_a_room_can_be_added(site):
    site.post(add(Room), {"slug": "storefront", "name": "Storefront", "policy": "{}"})
    assert Room.objects.get(slug="storefront").name == "Storefront"


def test_a_room_that_is_there_is_not_added_again(room, site):
    site.post(add(Room), {"slug": "facilities", "name": "Mine now", "policy": "{}"})
    assert (Room.objects.get().name, room.memberships.get(user__username="ben").roles) == (room.name, ("reviewer",))


def test_a_member_can_be_added(story, room, site):
    values = {"room": room.pk, "user": story.user["dee"].pk, "roles": ["reviewer", "viewer"], "groups": "legal, it"}
    site.post(add(Membership), values)
    member = Membership.objects.get(user__username="dee")
    assert (member.roles, member.groups) == (("reviewer", "viewer"), ["legal", "it"])


def test_roles_can_be_taken_away(room, site):
    member = room.memberships.get(user__username="ben")
    site.post(page(member), {"groups": ""})
    assert Membership.objects.get(pk=member.pk).roles == ()


def test_a_change_of_one_member_leaves_the_others(room, site):
    member = room.memberships.get(user__username="ben")
    site.post(page(member), {"roles": ["viewer"], "groups": ""})
    assert room.memberships.get(user__username="cleo").roles == ("reviewer",)


def test_an_agent_becomes_no_reviewer(room, site):
    member = room.memberships.get(user__username="reply-bot")
    answer = site.post(page(member), {"roles": ["reviewer"], "groups": ""})
    assert "Agents never decide" in answer.context["adminform"].form.errors["roles"][0]


def test_member_changes_are_in_the_rooms_history(room, site):
    member = room.memberships.get(user__username="ben")
    site.post(page(member), {"roles": ["viewer"], "groups": ""})
    assert AuditEvent.objects.filter(action="member.changed", actor="person:max").count() == 1


def test_a_channel_gets_a_new_configuration(room, site):
    channel = room.channels.get(slug="tickets")
    site.post(page(channel), channel_values(channel, operations='{"ticket.create": {}, "ticket.close": {}}'))
    numbers = list(ChannelConfig.objects.filter(channel=channel).order_by("number").values_list("number", flat=True))
    assert (numbers, sorted(Channel.objects.get(pk=channel.pk).config.operations)) == (
        [1, 2],
        ["ticket.close", "ticket.create"],
    )


def test_an_unchanged_channel_keeps_its_configuration(room, site):
    channel = room.channels.get(slug="tickets")
    before = rows()
    site.post(page(channel), channel_values(channel))
    assert rows() == before


def test_a_channel_can_be_retired(story, room, site):
    draft = story.propose()
    channel = room.channels.get(slug="tickets")
    values = channel_values(channel)
    del values["in_use"]
    site.post(page(channel), values)
    assert (Channel.objects.get(pk=channel.pk).retired_at is not None, story.again(draft).state) == (True, "revoked")


def test_a_channel_can_be_added(room, site, settings):
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = True
    values = {
        "room": room.pk,
        "slug": "tracker",
        "name": "Tracker",
        "connector": "roundup",
        "concurrency": "append",
        "policy": "{}",
        "in_use": "on",
        "account": "north",
        "resource": "issue",
        "secret": "TRACKER",
        "config": '{"base_url": "https://192.0.2.7/rest/data"}',
        "operations": '{"ticket.create": {}}',
    }
    site.post(add(Channel), values)
    assert Channel.objects.get(slug="tracker").config.number == 1


@pytest.mark.parametrize("address", ["http://127.0.0.1/rest/data", "http://localhost/rest/data"])
def test_an_address_that_may_not_be_called_is_refused_at_the_field(room, site, address):
    values = {
        "room": room.pk,
        "slug": "tracker",
        "name": "Tracker",
        "connector": "roundup",
        "concurrency": "append",
        "policy": "{}",
        "in_use": "on",
        "account": "north",
        "resource": "issue",
        "secret": "TRACKER",
        "config": json.dumps({"base_url": address}),
        "operations": '{"ticket.create": {}}',
    }
    answer = site.post(add(Channel), values)
    assert list(answer.context["adminform"].form.errors) == ["config"]


def test_two_places_to_write_to_are_refused(room, site):
    channel = room.channels.get(slug="tickets")
    answer = site.post(page(channel), channel_values(channel, resource_pattern="locations/*"))
    assert "either a resource or a resource_pattern" in str(answer.context["adminform"].form.errors)


@pytest.mark.parametrize("name", ["connector", "concurrency", "slug", "room", "config_id", "paused_at", "retired_at"])
def test_what_is_fixed_cannot_be_posted(room, site, name):
    channel = room.channels.get(slug="tickets")
    before = rows()
    site.post(page(channel), channel_values(channel, **{name: "1"}))
    assert rows() == before


def test_staff_with_every_permission_change_no_policy(room, staff):
    before = rows()
    logged_in(staff).post(page(room), {"name": "Mine", "policy": "{}"})
    assert rows() == before
