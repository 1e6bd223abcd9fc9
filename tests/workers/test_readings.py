"""What stands at an exclusive target is read for its reviewers: after each write, when it is new, and on request."""

import pytest

from approvals.connectors.base import Reading
from approvals.domain import errors
from approvals.models import Draft, Target, TargetReading
from approvals.services.readings import TRIES, ask_again, begin_reading
from approvals.workers import reconcile
from tests.cast import Story
from tests.services import states
from tests.workers.beats import send

OURS = Reading(True, "Read.", {"comment": "Thank you"})
EMPTY = Reading(True, "Nothing stands there.")
SILENT = Reading(False, "The remote answered 500.")


def read(story: Story) -> dict[str, int]:
    counts = reconcile.run(concurrency=1, clock=story.clock)
    return {word: count for word, count in counts.items() if word.startswith("target_")}


def reading_of(draft: Draft) -> TargetReading:
    return TargetReading.objects.get(target_id=draft.target_id)


def test_a_new_exclusive_target_is_read(story: Story) -> None:
    draft = story.propose(resource=states.REVIEW)
    story.remote.readings = [EMPTY]
    assert read(story) == {"target_read": 1}
    assert (reading_of(draft).known, reading_of(draft).content) == (True, None)


def test_an_append_target_is_not_read(story: Story) -> None:
    story.propose()
    assert read(story) == {}


def test_every_write_has_it_read_again(story: Story) -> None:
    draft = story.approved(resource=states.REVIEW)
    story.remote.readings = [EMPTY, OURS]
    read(story)
    send(story)
    assert read(story) == {"target_read": 1}
    found = reading_of(draft)
    assert (found.content, found.version) == ({"comment": "Thank you"}, Target.objects.get(pk=draft.target_id).version)


def test_it_asks_with_the_object_of_the_newest_write(story: Story) -> None:
    states.published(story)
    story.remote.readings = [OURS]
    story.clock.advance(hours=1)
    read(story)
    assert story.remote.read[-1].remote_id == "issue42"


def test_it_is_read_once(story: Story) -> None:
    story.propose(resource=states.REVIEW)
    story.remote.readings = [OURS]
    read(story)
    assert read(story) == {}


def test_a_remote_that_does_not_answer_is_asked_a_few_times(story: Story) -> None:
    draft = story.propose(resource=states.REVIEW)
    story.remote.readings = [SILENT] * (TRIES + 3)
    for _ in range(TRIES + 3):
        read(story)
        story.clock.advance(hours=2)
    assert len(story.remote.read) == TRIES
    assert (reading_of(draft).known, reading_of(draft).reason) == (False, SILENT.reason)


def test_a_failed_reading_keeps_what_was_read_before(story: Story) -> None:
    draft = story.propose(resource=states.REVIEW)
    story.remote.readings = [OURS, SILENT]
    read(story)
    ask_again(actor=story.actor("vic"), clock=story.clock, draft_id=draft.pk)
    Target.objects.filter(pk=draft.target_id).update(version=2)
    read(story)
    found = reading_of(draft)
    assert (found.known, found.content, found.version) == (False, {"comment": "Thank you"}, 1)


def test_a_stranger_has_nothing_read(story: Story) -> None:
    draft = story.propose(resource=states.REVIEW)
    with pytest.raises(errors.NotFound):
        ask_again(actor=story.actor("dee"), clock=story.clock, draft_id=draft.pk)


def test_one_reading_is_taken_by_one_worker(story: Story) -> None:
    draft = story.propose(resource=states.REVIEW)
    first = begin_reading(actor=story.worker, clock=story.clock, target_id=draft.target_id)
    second = begin_reading(actor=story.worker, clock=story.clock, target_id=draft.target_id)
    assert (first is not None, second) == (True, None)
