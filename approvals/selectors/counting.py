"""The recount: which decisions on an approval count right now."""

from collections.abc import Iterable

from approvals.domain.gate import Standing, Tally, Verdict, count
from approvals.models import Approval, Decision, Exclusion, Membership, User


def newest_decisions(approval: Approval) -> dict[int, Decision]:
    """Gives each reviewer's newest decision on an approval, oldest reviewer first."""
    newest: dict[int, Decision] = {}
    for decision in approval.decisions.select_related("reviewer").order_by("id"):
        newest[decision.reviewer_id] = decision
    return newest


def standings(room_id: int, draft_id: int, user_ids: Iterable[int]) -> dict[int, Standing]:
    """Gives the standing of each user as of now: an active person, a reviewer of the room, no author of the draft."""
    ids = list(user_ids)
    excluded = set(Exclusion.objects.filter(draft_id=draft_id, user_id__in=ids).values_list("user_id", flat=True))
    members = Membership.objects.filter(room_id=room_id, user_id__in=ids).select_related("user")
    return {
        member.user_id: Standing(
            member.user_id,
            in_good_standing=(
                member.is_reviewer
                and member.user.is_active
                and member.user.kind == User.Kind.PERSON
                and member.user_id not in excluded
            ),
            groups=frozenset(member.groups),
        )
        for member in members
    }


def tally(approval: Approval) -> Tally:
    """Counts an approval anew, with everybody's standing of now and the policy of then."""
    newest = newest_decisions(approval)
    verdicts = {user_id: Verdict(decision.verdict) for user_id, decision in newest.items()}
    return count(verdicts, standings(approval.draft.room_id, approval.draft_id, newest), approval.rules)
