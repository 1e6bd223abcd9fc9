"""The recount: which decisions on an approval count right now. One rule, for one approval or for a whole page."""

from collections.abc import Iterable
from uuid import UUID

from approvals.domain.gate import Standing, Tally, Verdict, count
from approvals.models import Approval, Decision, Exclusion, Membership, User


def newest_decisions(approval: Approval) -> dict[int, Decision]:
    """Gives each reviewer's newest decision on an approval, by reviewer id."""
    newest: dict[int, Decision] = {}
    for decision in approval.decisions.select_related("reviewer").order_by("id"):
        newest[decision.reviewer_id] = decision
    return newest


def tally(approval: Approval) -> Tally:
    """Counts an approval anew, with everybody's standing of now and the policy of then."""
    return tallies([approval])[approval.pk]


def tallies(approvals: Iterable[Approval]) -> dict[UUID, Tally]:
    """Counts many approvals (with their `draft` loaded) in three reads."""
    found = list(approvals)
    newest = _newest_verdicts(found)
    people = {person for verdicts in newest.values() for person in verdicts}
    members = list(Membership.objects.filter(user_id__in=people).select_related("user")) if people else []
    barred = _barred(found, people)
    return {
        approval.pk: count(newest[approval.pk], _standings(approval, members, barred), approval.rules)
        for approval in found
    }


def _newest_verdicts(approvals: list[Approval]) -> dict[UUID, dict[int, Verdict]]:
    newest: dict[UUID, dict[int, Verdict]] = {approval.pk: {} for approval in approvals}
    rows = Decision.objects.filter(approval__in=approvals).order_by("id")
    for approval_id, reviewer_id, verdict in rows.values_list("approval_id", "reviewer_id", "verdict"):
        newest[approval_id][reviewer_id] = Verdict(verdict)
    return newest


def _barred(approvals: list[Approval], people: set[int]) -> set[tuple[int, int]]:
    drafts = [approval.draft_id for approval in approvals]
    rows = Exclusion.objects.filter(draft_id__in=drafts, user_id__in=people)
    return set(rows.values_list("draft_id", "user_id")) if people else set()


def standings(room_id: int, draft_id: int, user_ids: Iterable[int]) -> dict[int, Standing]:
    """Gives the standing of each member of a room, as of now, on one draft."""
    ids = set(user_ids)
    barred = set(Exclusion.objects.filter(draft_id=draft_id, user_id__in=ids).values_list("user_id", flat=True))
    members = Membership.objects.filter(room_id=room_id, user_id__in=ids).select_related("user")
    return {member.user_id: _standing(member, is_barred=member.user_id in barred) for member in members}


def _standings(approval: Approval, members: Iterable[Membership], barred: set[tuple[int, int]]) -> dict[int, Standing]:
    return {
        member.user_id: _standing(member, is_barred=(approval.draft_id, member.user_id) in barred)
        for member in members
        if member.room_id == approval.draft.room_id
    }


def _standing(member: Membership, *, is_barred: bool) -> Standing:
    """Says whether somebody counts: an active person, a reviewer of the room, no author of the draft."""
    user = member.user
    good = member.is_reviewer and user.is_active and user.kind == User.Kind.PERSON and not is_barred
    return Standing(member.user_id, in_good_standing=good, groups=frozenset(member.groups))
