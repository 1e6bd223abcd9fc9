"""A channel that can no longer carry what was proposed: nothing of it is decided, and authority can still be taken."""

import copy

import pytest

from approvals.connectors import registry
from approvals.domain.errors import Revoked, TargetChanged
from approvals.models import Channel, ChannelConfig, OutboxEvent
from approvals.services.decide import take_back
from approvals.workers import dispatch
from tests.cast import CONFIG, Story
from tests.support.remote import FakeConnector


@pytest.fixture
def unable(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the connector render only what the channel's configuration declares."""
    render = FakeConnector.render

    def strict(self, binding, delivery_id, settings):
        settings.operations[binding.operation]
        return render(self, binding, delivery_id, settings)

    monkeypatch.setattr(FakeConnector, "render", strict)


def without_the_operation(story: Story) -> None:
    document = copy.deepcopy(CONFIG)
    document["rooms"][0]["channels"][0]["operations"] = {"ticket.close": {}}
    story.configure(document)


def silently_without_the_operation(story: Story) -> None:
    """Changes the configuration behind the services' back, as if somebody had decided at that very moment."""
    channel = Channel.objects.get(slug="tickets")
    old = channel.config
    values = {name: getattr(old, name) for name in ("account", "resource", "idempotent", "secret", "config")}
    channel.config = ChannelConfig.objects.create(
        channel=channel, number=2, operations={"ticket.close": {}}, created_at=story.clock.now, **values
    )
    channel.save(update_fields=["config"])


def test_what_cannot_be_sent_any_more_is_revoked_by_the_change(story: Story, unable: None) -> None:
    draft = story.propose()
    without_the_operation(story)
    assert (story.again(draft).state, story.again(draft).approval.state) == ("revoked", "revoked")
    assert "channel cannot send this any more" in story.again(draft).reason


def test_deciding_on_it_is_refused_and_issues_nothing(story: Story, unable: None) -> None:
    draft = story.propose()
    story.decide(draft, "ben")
    silently_without_the_operation(story)
    with pytest.raises(TargetChanged):
        story.decide(draft, "cleo")
    assert story.again(draft).state == "revoked"
    assert not OutboxEvent.objects.filter(event_class="issuance").exists()


def test_a_decision_on_it_can_still_be_taken_back(story: Story, unable: None) -> None:
    draft = story.approved()
    silently_without_the_operation(story)
    approval = story.approval(draft)
    take_back(actor=story.actor("ben"), clock=story.clock, approval_id=approval.pk)
    assert story.again(draft).state == "revoked"
    with pytest.raises(Revoked):
        take_back(actor=story.actor("cleo"), clock=story.clock, approval_id=approval.pk)


def test_a_connector_that_is_gone_ends_no_approval_and_sends_nothing(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = story.approved()

    def gone(name: str, outbound: object = None) -> None:
        raise LookupError(f"There is no connector {name}.")

    monkeypatch.setattr(registry, "get", gone)
    assert dispatch.run(concurrency=1, clock=story.clock)["failed"] == 1
    assert (story.again(draft).state, story.approval(draft).state) == ("approved", "approved")
    assert story.remote.sent == []
