"""Configure: users, rooms, members and policies match a document; what stood on old rules is reviewed anew."""

from copy import deepcopy
from typing import Any

import pytest

from approvals.domain import errors
from approvals.domain.actor import system
from approvals.models import AuditEvent, Membership, Room, User
from approvals.services import configure
from approvals.services.config_schema import read
from tests.cast import CONFIG, Story
from tests.services import states, variations
from tests.services.record import emitted, last_event, outcome, rows

ROBOT = system("apply_config", via="command")


def test_a_second_apply_changes_nothing(story: Story) -> None:
    story.propose()
    before, heard = rows(), AuditEvent.objects.count()
    assert story.configure(CONFIG) == []
    assert (rows(), AuditEvent.objects.count()) == (before, heard)


def test_a_room_read_back_and_applied_changes_nothing(story: Story) -> None:
    spec = read({"rooms": [configure.room_spec(Room.objects.get()).model_dump()]})
    assert configure.apply(actor=ROBOT, clock=story.clock, spec=spec) == []


def test_a_check_tells_and_keeps_nothing(story: Story) -> None:
    draft = story.propose()
    before, heard = rows(), AuditEvent.objects.count()
    spec = read(variations.policy(required_approvals=3))
    told = configure.apply(actor=ROBOT, clock=story.clock, spec=spec, check_only=True)
    assert told == ["room facilities: policy changed", f"{draft.reference}: back to review"]
    assert (rows(), AuditEvent.objects.count()) == (before, heard)


def test_a_fault_anywhere_keeps_nothing(story: Story) -> None:
    document = variations.policy(required_approvals=3)
    document["rooms"][0]["members"].append({"user": "nobody", "roles": []})
    before = rows()
    with pytest.raises(errors.InvalidPayload) as refused:
        story.configure(document)
    assert refused.value.pointer == "/rooms/0/members/6/user"
    assert rows() == before


def test_every_change_is_told_in_the_rooms_history(story: Story) -> None:
    story.configure(variations.policy(required_approvals=1))
    told = last_event(action="policy.changed")
    assert told["actor"]["label"] == "system:apply_config"
    assert told["details"]["before"]["required_approvals"] == 2
    assert told["details"]["after"]["required_approvals"] == 1
    assert told["chain"] == f"room:{Room.objects.get().pk}"
    assert Room.objects.get().policy_changed_at == story.clock.now


def test_a_stricter_policy_supersedes_what_is_pending_and_the_sink_is_told(story: Story) -> None:
    draft = story.propose()
    story.decide(draft, "ben")
    old = story.approval(draft)
    story.configure(variations.policy(required_approvals=3))
    fresh = story.approval(draft)
    assert (outcome(old), fresh.required_approvals, fresh.decisions.count()) == ("superseded", 3, 0)
    assert emitted(old) == ["supersession"]


@pytest.mark.parametrize(
    "stricter",
    [
        {"required_approvals": 3},
        {"requirements": [{"group": "legal", "minimum": 1}]},
        {"review_ttl": "1d"},
        {"approval_ttl": "1h"},
        {"dispatch": "manual"},
    ],
)
def test_each_rule_made_stricter_starts_the_review_anew(story: Story, stricter: dict[str, Any]) -> None:
    draft = story.propose()
    old = story.approval(draft)
    story.configure(variations.policy(**stricter))
    assert outcome(old) == "superseded"


@pytest.mark.parametrize(
    "looser", [{"required_approvals": 1}, {"reject_threshold": 2}, {"review_ttl": "30d"}, {"dispatch_delay": "1m"}]
)
def test_a_looser_policy_leaves_what_is_pending_as_it_is(story: Story, looser: dict[str, Any]) -> None:
    draft = story.propose()
    old = story.approval(draft)
    story.configure(variations.policy(**looser))
    assert (outcome(old), story.approval(draft)) == ("pending", old)


def test_an_approved_approval_stands_on_the_policy_it_was_given_under(story: Story) -> None:
    draft = story.approved()
    story.configure(variations.policy(required_approvals=3))
    assert states.send(story) == {"delivered": 1}
    assert story.again(draft).state == "submitted"


def test_a_member_who_is_left_out_loses_all_roles_and_stays_in_history(story: Story) -> None:
    draft = story.approved()
    story.configure(variations.member("ben"))
    assert Membership.objects.get(user=story.user["ben"]).roles == ()
    assert last_event(action="member.removed")["details"] == {"user": "ben"}
    assert states.send(story) == {"stopped": 1}
    assert story.again(draft).state == "in_review"


def test_roles_and_groups_are_made_to_match(story: Story) -> None:
    story.configure(variations.member("vic", "reviewer", "operator", groups=("legal",)))
    member = Membership.objects.get(user=story.user["vic"])
    assert (member.roles, member.groups) == (("reviewer", "operator"), ["legal"])


@pytest.mark.parametrize("role", ["reviewer", "operator"])
def test_an_agent_is_given_no_role_that_decides(story: Story, role: str) -> None:
    with pytest.raises(errors.InvalidPayload, match="Agents never decide"):
        story.configure(variations.member("reply-bot", "proposer", role))


def test_a_person_does_not_become_an_agent(story: Story) -> None:
    document = {"users": [{"name": "ben", "kind": "agent", "acts_for": ["ada"]}]}
    with pytest.raises(errors.InvalidPayload) as refused:
        story.configure(document)
    assert refused.value.pointer == "/users/0/kind"


@pytest.mark.parametrize("persons", [["nobody"], ["reply-bot"]])
def test_an_agent_acts_for_persons_that_are_known(story: Story, persons: list[str]) -> None:
    document = {"users": [{"name": "other-bot", "kind": "agent", "acts_for": persons}]}
    with pytest.raises(errors.InvalidPayload) as refused:
        story.configure(document)
    assert refused.value.pointer == "/users/0/acts_for/0"


def test_new_users_have_no_password(story: Story) -> None:
    story.configure({"users": [{"name": "eve", "email": "eve@example.test"}]})
    eve = User.objects.get(username="eve")
    assert (eve.has_usable_password(), eve.email, eve.is_staff) == (False, "eve@example.test", False)


def test_rooms_that_are_not_named_are_left_alone(story: Story) -> None:
    before = rows()
    assert story.configure({"users": [], "rooms": []}) == []
    assert rows() == before


def test_a_wrong_rule_is_pointed_at(story: Story) -> None:
    for rule, value in {"required_approvals": 0, "review_ttl": "soon", "unknown": 1, "dispatch": "never"}.items():
        with pytest.raises(errors.InvalidPayload) as refused:
            story.configure(variations.policy(**{rule: value}))
        assert refused.value.pointer == f"/rooms/0/policy/{rule}"


def test_an_unknown_key_is_pointed_at() -> None:
    document = deepcopy(CONFIG)
    document["rooms"][0]["channels"][0]["timeout"] = 3
    with pytest.raises(errors.InvalidPayload) as refused:
        read(document)
    assert refused.value.pointer == "/rooms/0/channels/0/timeout"
