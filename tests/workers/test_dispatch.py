"""The dispatcher: what each receipt becomes, and what is never sent."""

from approvals.workers import dispatch, reconcile
from tests.cast import Story


def send(story: Story) -> dict[str, int]:
    return dict(dispatch.run(concurrency=1, clock=story.clock))


def test_an_approved_draft_is_sent_once_and_confirmed(story: Story) -> None:
    draft = story.approved()
    assert send(story) == {"delivered": 1}
    assert story.again(draft).state == "submitted"
    assert dict(reconcile.run(concurrency=1, clock=story.clock)) == {"confirmed": 1}
    assert story.again(draft).state == "confirmed"
    assert send(story) == {}
    assert len(story.remote.sent) == 1


def test_the_remote_gets_the_payloads_own_bytes(story: Story) -> None:
    draft = story.approved(payload={"summary": "Grüße", "n": 1.0})
    send(story)
    assert story.remote.sent[0].request.body == '{"n":1,"summary":"Grüße"}'.encode()
    assert story.remote.sent[0].delivery_id == story.approval(draft).write_id
