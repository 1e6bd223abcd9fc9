"""What an answer to a write or a retraction means: one table for all connectors.

The rule behind it: `refused` and `not_sent` are only said where the remote itself, or the way the call failed,
proves that nothing happened. Whatever is left is unknown, and unknown is never sent again on a guess.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from approvals.connectors.answers import Answer, Failure, Fault, Response
from approvals.connectors.base import Outcome, Receipt
from approvals.connectors.placeholders import value_problem
from approvals.domain.retry import retry_after

RETRY_AFTER_CAP_SECONDS = 3600.0
_WRITTEN = (200, 201, 202)
_RETRACTED = (200, 202, 204)
_GONE = (404, 410)
_NOT_ALLOWED = (401, 403)
_LATER = (425, 429)
_IN_DOUBT = (408, 409)
_FAILED = ("error", "fail", "failed", "failure")  # a `status`, as in JSend
_PAUSING = (Fault.CERTIFICATE, Fault.ADDRESS, Fault.SECRET)  # no retry mends them; a person has to

FindId = Callable[[Any], object]


def write_receipt(answer: Answer, *, find_id: FindId, now: datetime) -> Receipt:
    """The receipt of a write. `find_id` gives the object's id in the remote's document, or raises LookupError."""
    if isinstance(answer, Response) and answer.status in _WRITTEN:
        return _written(answer, find_id)
    return _otherwise(answer, now)


def amend_receipt(answer: Answer, *, remote_id: str, now: datetime) -> Receipt:
    """The receipt of a change of a known object, by a remote whose answers name no id; the read-back decides."""
    if isinstance(answer, Response) and answer.status in (*_WRITTEN, 204):
        return _amended(answer, remote_id)
    return _otherwise(answer, now)


def retract_receipt(answer: Answer, *, now: datetime) -> Receipt:
    """The receipt of a retraction. That the object is gone counts as done; the read-back decides."""
    if isinstance(answer, Response) and answer.status in _GONE:
        return _receipt(Outcome.DELIVERED, f"The remote answered {answer.status}: it is already gone.", answer)
    if isinstance(answer, Response) and answer.status in _RETRACTED:
        return _retracted(answer)
    return _otherwise(answer, now)


def usable_id(value: object) -> str | None:
    """The remote's id as text, if it can later be put into a URL."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return value if isinstance(value, str) and value_problem(value) is None else None


def says_error(document: Any) -> bool:
    """Whether a document of a 2xx nevertheless reports a failure, in one of the usual ways."""
    if not isinstance(document, dict):
        return False
    failed = document.get("ok") is False or document.get("success") is False
    failed = failed or str(document.get("status")).lower() in _FAILED
    return failed or bool(document.get("error")) or bool(document.get("errors"))


def _written(answer: Response, find_id: FindId) -> Receipt:
    try:
        document = answer.json()
        remote_id = usable_id(find_id(document))
    except ValueError:
        return _receipt(Outcome.UNKNOWN, f"The remote answered {answer.status}, but not with whole JSON.", answer)
    except LookupError:
        remote_id = None
    if says_error(document):
        return _receipt(Outcome.UNKNOWN, f"The remote answered {answer.status} and reported an error.", answer)
    if remote_id is None or answer.shows_secret(remote_id):
        return _receipt(Outcome.UNKNOWN, f"The remote answered {answer.status} without a usable id.", answer)
    return Receipt(Outcome.DELIVERED, f"The remote made {remote_id}.", remote_id, answer.evidence)


def _amended(answer: Response, remote_id: str) -> Receipt:
    try:
        clear = not says_error(answer.json()) if answer.body.strip() else answer.status == 204
    except ValueError:
        clear = False
    if not clear or not answer.complete or usable_id(remote_id) is None:
        return _receipt(Outcome.UNKNOWN, f"The remote answered {answer.status}, but not clearly.", answer)
    return Receipt(Outcome.DELIVERED, f"The remote changed {remote_id}.", remote_id, answer.evidence)


def _retracted(answer: Response) -> Receipt:
    try:
        failed = answer.status != 204 and bool(answer.body.strip()) and says_error(answer.json())
    except ValueError:
        failed = True
    if failed or not answer.complete:
        return _receipt(Outcome.UNKNOWN, f"The remote answered {answer.status}, but not clearly.", answer)
    return _receipt(Outcome.DELIVERED, f"The remote accepted it ({answer.status}).", answer)


def _otherwise(answer: Answer, now: datetime) -> Receipt:
    if isinstance(answer, Failure):
        return _failed(answer)
    status = answer.status
    if status in _NOT_ALLOWED:
        return _receipt(Outcome.NOT_SENT, f"The remote does not let us in ({status}).", answer, pause=True)
    if status in _LATER:
        wait = retry_after(answer.headers.get("retry-after"), now, RETRY_AFTER_CAP_SECONDS)
        return _receipt(
            Outcome.NOT_SENT, f"The remote asked to come later ({status}).", answer, retry_after_seconds=wait
        )
    if 400 <= status < 500 and status not in _IN_DOUBT:
        return _receipt(Outcome.REFUSED, f"The remote refused it ({status}).", answer)
    return _receipt(Outcome.UNKNOWN, f"The remote answered {status}; it may or may not have acted.", answer)


def _failed(failure: Failure) -> Receipt:
    if failure.fault is Fault.LOST:
        return _receipt(Outcome.UNKNOWN, failure.reason, failure)
    return _receipt(Outcome.NOT_SENT, failure.reason, failure, pause=failure.fault in _PAUSING)


def _receipt(
    outcome: Outcome,
    reason: str,
    answer: Answer,
    *,
    pause: bool = False,
    retry_after_seconds: float | None = None,
) -> Receipt:
    return Receipt(outcome, reason, evidence=answer.evidence, pause=pause, retry_after_seconds=retry_after_seconds)
