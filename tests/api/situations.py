"""One situation per call about a delivery in which its right person succeeds, for the tables of several tests."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from approvals.domain.states import DraftState
from approvals.models import Delivery, Draft
from tests.cast import Story
from tests.services import states

REASON = {"reason": "Wrong shop."}
SEEN = {"outcome": "delivered", "evidence": "The ticket is there.", "remote_id": "issue42"}


@dataclass(frozen=True)
class Situation:
    """A draft in the right state, the call, who may make it, and the one event that it leaves."""

    build: Callable[[Story], Draft]
    route: str
    body: Any
    by: str
    event: str
    state: DraftState

    def path(self, draft: Draft) -> str:
        delivery = Delivery.objects.filter(draft=draft).order_by("created_at", "kind").first()
        places = {"draft_id": draft.pk, "delivery_id": delivery.pk if delivery else None}
        return self.route.removeprefix("POST ").format(**places)


def _in(state: DraftState) -> Callable[[Story], Draft]:
    return lambda story: states.build(story, state)


CANCEL = "POST /v1/drafts/{draft_id}/cancel"
RETRY = "POST /v1/drafts/{draft_id}/retry"
RETRACT = "POST /v1/drafts/{draft_id}/retract"
RESOLVE = "POST /v1/deliveries/{delivery_id}/resolve"
T = DraftState
SITUATIONS = {
    CANCEL: Situation(_in(T.SUBMITTING), CANCEL, REASON, "max", "delivery.cancelled", T.FAILED),
    RETRY: Situation(_in(T.FAILED), RETRY, None, "max", "delivery.retried", T.SUBMITTING),
    RETRACT: Situation(states.published, RETRACT, REASON, "ben", "retraction.requested", T.RETRACTING),
    RESOLVE: Situation(_in(T.DELIVERY_UNKNOWN), RESOLVE, SEEN, "max", "delivery.resolved", T.SUBMITTED),
}
