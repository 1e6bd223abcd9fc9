"""Sentences about a draft that is not out yet: what review lacks, what holds the send, what is known of an attempt."""

from collections.abc import Iterator

from approvals.domain.gate import Tally, Verdict, is_expired
from approvals.domain.states import DeliveryState
from approvals.models import Approval, Delivery
from approvals.selectors.counting import newest_decisions, tally
from approvals.services import corrections, ground
from approvals.services.audit import stamp
from approvals.services.explanation import doubt, obstacles
from approvals.services.explanation.case import Case, Line, Next, Why, newest_attempt


def never_submitted(case: Case) -> Iterator[Line]:
    if case.approval is None:
        yield Why("It was never submitted for review.")
    else:
        yield Why("It is being reworked; its earlier approval has ended.")
    yield Next("Its author edits and submits it.")


def in_review(case: Case) -> Iterator[Line]:
    approval = case.approval
    assert approval is not None  # the state says so
    yield from _missing(approval)
    if reason := corrections.why_not(case.draft):
        yield Why(reason)
        yield Next("It cannot be sent as it is: withdraw it.")
    yield Next(f"Reviewers of the room decide on its page, until {stamp(approval.expires_at)}.")


def changes_requested(case: Case) -> Iterator[Line]:
    yield Why("A reviewer asked for changes.")
    yield Next("Its author edits it and submits it again.")


def rejected(case: Case) -> Iterator[Line]:
    yield Why("The reviewers said no.")
    yield Next("Its author edits it and submits it again, or leaves it.")


def expired(case: Case) -> Iterator[Line]:
    approval = case.approval
    at = f" at {stamp(approval.expires_at)}" if approval is not None else ""
    yield Why(f"Its time ran out{at}, so nobody can decide on it or send it.")
    yield Next("Its author submits it again.")


def revoked(case: Case) -> Iterator[Line]:
    yield Why("Its approval was taken away, or it was withdrawn.")
    yield Next("Its author submits it again if it is still wanted.")


def approved(case: Case) -> Iterator[Line]:
    approval, answer = case.approval, case.gate.answer if case.gate else None
    assert approval is not None and answer is not None  # the state says so  # noqa: PT018
    yield from _due(case, approval)
    yield from obstacles.reasons(answer)
    yield from _not_counting(approval, tally(approval))
    yield from obstacles.after_a_no(case)
    if answer.ok and not any(obstacles.outside(case)):
        yield Why("Nothing holds it back: the next beat of the dispatcher sends it.")
        yield obstacles.workers("dispatch_approved")


def submitting(case: Case) -> Iterator[Line]:
    write = case.write
    assert write is not None  # the state says so
    if write.state == DeliveryState.SENDING:
        yield from being_sent(case, write)
    else:
        yield from waiting(case, write)


def being_sent(case: Case, delivery: Delivery) -> Iterator[Line]:
    """Says which worker has it, and what follows if that worker is gone."""
    attempt = newest_attempt(delivery)
    assert attempt is not None  # only an attempt sends
    if attempt.lease_until > case.now:
        yield Why(f"{attempt.owner} is sending it, since {stamp(attempt.started_at)}.")
        yield Next(f"If no answer is recorded by {stamp(attempt.lease_until)}, the outcome counts as unknown.")
        return
    yield Why(
        f"{attempt.owner} was stopped, or hangs: its lease ended at {stamp(attempt.lease_until)}, no answer kept."
    )
    yield Next(f"The sweeper says that the outcome is unknown. {obstacles.WORKERS.format(command='sweep_expired')}")


def waiting(case: Case, delivery: Delivery) -> Iterator[Line]:
    """Says when a delivery is tried (again), and what its gate would say now."""
    answer = case.gate.answer if case.gate else None
    if delivery.next_attempt_at is not None:
        is_due = delivery.next_attempt_at <= case.now
        yield Why(f"The next attempt is {'due since' if is_due else 'at'} {stamp(delivery.next_attempt_at)}.")
    yield from obstacles.reasons(answer)
    yield from obstacles.after_a_no(case)
    if delivery.held_at is not None:
        return
    if answer is not None and answer.ok and not any(obstacles.outside(case)):
        yield Next("The dispatcher tries it then, by itself.")
        yield obstacles.workers("dispatch_approved")
    yield Next("Nothing of it is on its way, so its author, a reviewer or an operator can cancel it.")


def unknown(case: Case) -> Iterator[Line]:
    write = case.write
    assert write is not None  # the state says so
    yield Why("Nobody knows whether it arrived, so it is not sent again on a guess.")
    yield from doubt.of_a_write(case, write)


def failed(case: Case) -> Iterator[Line]:
    write, approval = case.write, case.approval
    assert write is not None and approval is not None  # the state says so  # noqa: PT018
    done = "was cancelled" if write.state == DeliveryState.CANCELLED else "was refused by the remote"
    yield Why(f"It {done}, so it is not there.")
    if write.held_at is not None:
        return
    if is_expired(case.now, approval.expires_at):
        yield Why(f"Its approval's time ended at {stamp(approval.expires_at)}, so it covers no further send.")
        yield Next("Copy it into a new draft and have that reviewed.")
        return
    yield from obstacles.reasons(case.gate.answer if case.gate else None)
    yield Next("An operator mends the cause and tries it again; else copy it into a new draft.")


def _due(case: Case, approval: Approval) -> Iterator[Line]:
    asked = case.draft.not_before
    if approval.dispatch_at is None:
        yield Why("It is approved, and this channel sends only when a person presses Send.")
        yield Next(f"A reviewer or an operator presses Send on its page, until {stamp(approval.expires_at)}.")
    elif approval.dispatch_at > case.now and approval.dispatch_at == asked:
        yield Why(f"It is due at {stamp(approval.dispatch_at)}: whoever proposed it asked not to send it before.")
        yield Next("It is sent then, by itself.")
    elif approval.dispatch_at > case.now:
        yield Why(f"It is due at {stamp(approval.dispatch_at)}: until then it can still be undone.")
        yield Next("It is sent then, by itself.")


def _missing(approval: Approval) -> Iterator[Line]:
    """Says what the policy still asks for."""
    counted, policy = tally(approval), approval.rules
    lacking = policy.required_approvals - len(counted.approvals)
    if lacking > 0:
        yield Why(f"It waits for {lacking} more of {policy.required_approvals} approvals.")
    for item in policy.requirements:
        if counted.groups[item.group] < item.minimum:
            yield Why(f"It needs {item.minimum} from the group {item.group} and has {counted.groups[item.group]}.")
    for reason in ground.moved(approval):
        yield Why(f"{reason.message} It has to be reviewed again.")
    yield from _not_counting(approval, counted)


def _not_counting(approval: Approval, counted: Tally) -> Iterator[Line]:
    """Says whose yes is there but no longer counts."""
    for found in newest_decisions(approval).values():
        if found.verdict == Verdict.APPROVE and found.reviewer_id not in counted.approvals:
            name = found.reviewer.username
            yield Why(f"The approval of {name} does not count: not an active reviewer of the room any more.")
