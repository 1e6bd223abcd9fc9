"""The lane: how far a delivery has come. Past is solid, not reached dashed; trouble hangs under the step it left."""

from approvals.domain.states import DraftState
from approvals.web.cards import sending, undoing
from approvals.web.cards.story import Branch, Lane, Step, Story

__all__ = ["RETRACTION", "Branch", "Lane", "Step", "Story", "lane"]

RETRACTION = (
    DraftState.RETRACTING,
    DraftState.RETRACTED,
    DraftState.RETRACTION_UNKNOWN,
    DraftState.RETRACTION_FAILED,
)


def lane(story: Story) -> Lane:
    """Gives the lane of a draft that was approved: of its write, or of the undoing of it."""
    if story.state in RETRACTION:
        return Lane("Retraction", undoing.steps(story), undoing.branch(story))
    return Lane("Delivery", sending.steps(story), sending.branch(story))
