"""What Google's answers mean for a delivery.

A reply has no id and no version, so only its text and its time can tell whose it is.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from approvals.connectors.answers import Answer, Response
from approvals.connectors.base import Job, Match, Outcome, Receipt, Sighting
from approvals.connectors.classify import RETRY_AFTER_CAP_SECONDS, retract_receipt, says_error, write_receipt
from approvals.connectors.google_business import reviews
from approvals.connectors.google_business.places import reply_name, review_name
from approvals.connectors.google_business.reviews import Reply
from approvals.domain.retry import retry_after

CLOCK_MARGIN = timedelta(minutes=2)  # by which our clock and Google's may run apart


def of_write(answer: Answer, job: Job, now: datetime) -> Receipt:
    """The receipt of an upsert."""
    if not isinstance(answer, Response) or answer.status != 200:
        return _with_details(write_receipt(answer, find_id=lambda document: None, now=now), answer, now)
    try:
        document = answer.json()
        reply = None if says_error(document) else reviews.reply_in(document)
    except ValueError:
        reply = None
    # Google adds the time; without one this may be an echo of what was sent.
    if reply is None or reply.updated_at is None or not reply.says(job.binding.payload["comment"]):
        reason = "Google answered 200, but not with the reply that was sent."
        return Receipt(Outcome.UNKNOWN, reason, evidence=answer.evidence)
    return Receipt(Outcome.DELIVERED, "Google took the reply.", reply_name(job.binding), answer.evidence)


def of_deletion(answer: Answer, now: datetime) -> Receipt:
    """The receipt of a deletion."""
    return _with_details(retract_receipt(answer, now=now), answer, now)


def before_deletion(current: Answer, job: Job, now: datetime) -> Receipt | None:
    """The receipt of a retraction that ends at the reading before it; None if this very reply stands there."""
    if reviews.is_not_found(current):
        return Receipt(Outcome.DELIVERED, "The review is gone, and its reply with it.", evidence=current.evidence)
    try:
        shown = reviews.reply_to(current, review_name(job.binding))
    except ValueError as exc:
        return _unread(current, str(exc), now)
    if shown is None:
        return Receipt(Outcome.DELIVERED, "The reply is already gone.", evidence=current.evidence)
    if not shown.says(job.binding.payload["comment"]):
        reason = f"Nothing was deleted: the review has another reply{since(shown)}, which is not this one."
        return Receipt(Outcome.REFUSED, reason, evidence=current.evidence)
    return None


def of_sight(shown: Reply | None, job: Job) -> tuple[Sighting, str]:
    """Whether the upsert has arrived, going by the reply that stands there. Text that may be newer proves nothing."""
    if shown is None:
        return Sighting.ABSENT, "The review has no reply."
    if shown.says(job.binding.payload["comment"]):
        return Sighting.FOUND, f"The review has the approved reply{since(shown)}."
    if shown.updated_at is None or job.begun_at is None:
        return Sighting.UNKNOWN, "The review has another reply, and nothing says since when. A person has to look."
    if shown.updated_at < job.begun_at - CLOCK_MARGIN:
        return Sighting.ABSENT, f"The review still has an earlier reply{since(shown)}."
    reason = (
        f"The review has another reply{since(shown)}: somebody may have written after this one was sent. "
        "Sending again would overwrite theirs, so a person has to look."
    )
    return Sighting.UNKNOWN, reason


def of_read_back(shown: Reply | None, job: Job) -> tuple[Match, str]:
    """Whether the review shows what was approved. What Google holds back from the public is not shown."""
    approved = job.binding.payload["comment"]
    if shown is None:
        return Match.GONE, "The review has no reply."
    if not shown.says(approved):
        return Match.DIFFERS, f"The review has another reply than was approved{since(shown)}."
    if job.retraction_id is None and shown.state == "REJECTED":
        policy = f" ({shown.violation})" if shown.violation else ""
        return Match.DIFFERS, f"Google has the approved reply but rejected it{policy}: it is not published."
    if job.retraction_id is None and shown.state == "PENDING":
        return Match.UNKNOWN, "Google has the approved reply and is still checking it: it is not published yet."
    if shown.comment != approved:
        return Match.EQUAL, "Google shows what was approved, but for line ends or blanks at its ends."
    return Match.EQUAL, "Google shows what was approved."


def since(shown: Reply) -> str:
    """` of <time>` for a sentence, or nothing."""
    return f" of {shown.updated_at:%Y-%m-%d %H:%M:%S %Z}" if shown.updated_at else ""


def _unread(current: Answer, why: str, now: datetime) -> Receipt:
    """Only a reading was asked for, so nothing was deleted, whatever came of it; a clear no stays one."""
    receipt = _with_details(write_receipt(current, find_id=lambda document: None, now=now), current, now)
    is_no = receipt.outcome is Outcome.REFUSED
    reason = f"The review could not be read, so nothing was deleted. {why}"
    return replace(receipt, outcome=Outcome.REFUSED if is_no else Outcome.NOT_SENT, reason=reason)


def _with_details(receipt: Receipt, answer: Answer, now: datetime) -> Receipt:
    """The same with Google's own words, and with its ways to say that a quota is used up, which is never a no."""
    words = reviews.message(answer)
    said = f' Google says: "{words}"' if words else ""
    if not isinstance(answer, Response) or not reviews.is_quota(answer):
        return replace(receipt, reason=f"{receipt.reason}{said}")
    asked = retry_after(answer.headers.get("retry-after"), now, RETRY_AFTER_CAP_SECONDS)
    wait = reviews.retry_delay(answer) if asked is None else asked
    return replace(
        receipt,
        outcome=Outcome.NOT_SENT,
        reason=f"Google's quota is used up for now ({answer.status}).{said}",
        pause=False,
        retry_after_seconds=None if wait is None else min(wait, RETRY_AFTER_CAP_SECONDS),
    )
