"""What the tracker's answers say."""

from datetime import datetime, timedelta
from typing import Any

from approvals.connectors.answers import Answer, Failure, Response
from approvals.connectors.base import Outcome, Receipt
from approvals.connectors.classify import retract_receipt, write_receipt
from approvals.domain import pointer as pointers

_SPENT = "POE token"  # the link was used up, by us or by an earlier copy, or its time is over
_NO_FACT = (_SPENT, "An error occurred")  # in a 400: says nothing about whether the issue was made


def data(answer: Answer) -> Any:
    if not isinstance(answer, Response) or answer.status != 200:
        raise ValueError("no plain success")
    return answer.json()["data"]


def collection(answer: Answer) -> list[Any]:
    listed = data(answer)["collection"]
    if not isinstance(listed, list):
        raise TypeError("no list")
    return listed


def unreadable(answer: Answer, exc: Exception | None) -> str:
    if isinstance(answer, Failure):
        return answer.reason
    return f"The tracker answered {answer.status} with something that cannot be read ({exc or 'no issue'})."


def between_links(wait: timedelta) -> Receipt:
    """Too old to be used, too young to be surely dead: a new one now could make a second issue."""
    return Receipt(
        Outcome.NOT_SENT,
        "The post-once link is running out; a new one may be used once it surely has.",
        retry_after_seconds=wait.total_seconds(),
    )


def unprepared(answer: Answer, now: datetime) -> Receipt:
    """Nothing was posted. A refusal is about the channel and not about this issue, so the channel pauses."""
    receipt = write_receipt(answer, find_id=lambda document: None, now=now)
    return Receipt(
        Outcome.NOT_SENT,
        f"No post-once link could be fetched, nothing was posted. {receipt.reason}",
        evidence=receipt.evidence,
        pause=receipt.pause or receipt.outcome is Outcome.REFUSED,
        retry_after_seconds=receipt.retry_after_seconds,
    )


def written(answer: Answer, now: datetime) -> Receipt:
    receipt = write_receipt(answer, find_id=lambda document: pointers.resolve(document, "/data/id"), now=now)
    if not isinstance(answer, Response) or not 400 <= answer.status < 500:
        return receipt
    message = answer.body.decode(errors="replace")
    if answer.status == 400 and any(words in message for words in _NO_FACT):
        reason = "The tracker answered 400 without saying whether it made the issue."
        return Receipt(Outcome.UNKNOWN, reason, evidence=receipt.evidence, spent=_SPENT in message)
    # Roundup destroys the link before it looks at the issue; a log-in or rate limit is checked before that.
    spent = receipt.outcome is Outcome.REFUSED or answer.status == 403
    return Receipt(
        receipt.outcome,
        receipt.reason,
        evidence=receipt.evidence,
        pause=receipt.pause,
        retry_after_seconds=receipt.retry_after_seconds,
        spent=spent,
    )


def unread(answer: Answer, now: datetime) -> Receipt:
    """The receipt of a retraction that ended at the reading before it: nothing was asked of the tracker yet."""
    if isinstance(answer, Response) and answer.status in (404, 410):
        return retract_receipt(answer, now=now)
    receipt = write_receipt(answer, find_id=lambda document: None, now=now)
    if receipt.outcome is Outcome.REFUSED:
        return receipt
    return Receipt(
        Outcome.NOT_SENT,
        f"The issue could not be read, nothing was retired. {receipt.reason}",
        evidence=receipt.evidence,
        pause=receipt.pause,
        retry_after_seconds=receipt.retry_after_seconds,
    )
