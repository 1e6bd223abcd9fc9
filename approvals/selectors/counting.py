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


def _standings(approval: Approval, members: Iterable[Membership], barred: set[tuple[int, int]]) -> dict[int, Standing]:
    """Gives who is in good standing: an active person, a reviewer of the room, no author of the draft."""
    return {
        member.user_id: Standing(
            member.user_id,
            in_good_standing=(
                member.is_reviewer
                and member.user.is_active
                and member.user.kind == User.Kind.PERSON
                and (approval.draft_id, member.user_id) not in barred
            ),
            groups=frozenset(member.groups),
        )
        for member in members
        if member.room_id == approval.draft.room_id
    }
