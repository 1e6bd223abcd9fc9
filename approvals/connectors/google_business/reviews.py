"""What Google's documents say: a review, the reply to it, an error.

Reference: https://developers.google.com/my-business/reference/rest/v4/accounts.locations.reviews. A review has at
most one reply, which has no id and no version. `reviewReplyState` tells since 2026 whether Google has let it
through its own moderation; older answers do not have it.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from approvals.connectors import secrets
from approvals.connectors.answers import Answer, Failure, Response, storable

_MESSAGE_CHARACTERS = 300
_QUOTA_REASONS = frozenset(
    {
        "rateLimitExceeded",
        "userRateLimitExceeded",
        "quotaExceeded",
        "dailyLimitExceeded",
        "RATE_LIMIT_EXCEEDED",
        "RESOURCE_EXHAUSTED",
    }
)


@dataclass(frozen=True)
class Reply:
    """The one reply of a review."""

    comment: str
    updated_at: datetime | None  # None: Google did not say, or not in a way that can be read
    state: str = ""  # PENDING, REJECTED, APPROVED; "" where Google does not tell
    violation: str = ""  # the policy a rejected reply is said to violate

    def says(self, approved: str) -> bool:
        """Whether this is the approved text, but for line ends and blanks at both ends, which Google may rewrite."""
        return _bare(self.comment) == _bare(approved)


def reply_in(document: Any) -> Reply:
    """The reply a ReviewReply document holds. Raises ValueError for any other document."""
    if not isinstance(document, dict) or not isinstance(document.get("comment"), str):
        raise ValueError("it holds no reply")
    return Reply(
        document["comment"],
        _moment(document.get("updateTime")),
        _word(document.get("reviewReplyState")),
        _word(document.get("policyViolation")),
    )


def reply_to(answer: Answer, review: str) -> Reply | None:
    """The reply of this review, or None where it has none. Raises ValueError unless that is what Google answered."""
    if isinstance(answer, Failure):
        raise ValueError(answer.reason)
    if answer.status != 200:
        raise ValueError(f"Google answered {answer.status}.")
    try:
        document = answer.json()
        if not _is_review(document, review):
            raise ValueError("it is not this review")
        shown = document.get("reviewReply")
        return None if shown is None else reply_in(shown)
    except ValueError as exc:
        raise ValueError(f"Google answered 200, but the answer cannot be used: {exc}.") from exc


def is_not_found(answer: Answer) -> bool:
    """Whether Google itself says that the review is not there (any more); a 404 of somebody else does not."""
    return isinstance(answer, Response) and answer.status == 404 and _error(answer).get("status") == "NOT_FOUND"


def is_quota(answer: Answer) -> bool:
    """Whether Google says that a quota is used up for now, whatever the status."""
    if not isinstance(answer, Response) or answer.status not in (403, 429):
        return False
    error = _error(answer)
    told = {item.get("reason") for key in ("errors", "details") for item in _dicts(error.get(key))}
    return bool(({error.get("status")} | told) & _QUOTA_REASONS)


def retry_delay(answer: Answer) -> float | None:
    """The seconds a google.rpc.RetryInfo among the details of an error asks to wait, or None."""
    for item in _dicts(_error(answer).get("details")):
        found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)s", str(item.get("retryDelay")))
        if found:
            return float(found[1])
    return None


def message(answer: Answer) -> str:
    """What Google's error document says to people, secrets taken out; "" where there is none."""
    told = _error(answer).get("message")
    if not isinstance(told, str) or not isinstance(answer, Response):
        return ""
    return str(storable(secrets.redact(" ".join(told.split()), answer.hidden)))[:_MESSAGE_CHARACTERS]


def _error(answer: Answer) -> dict[str, Any]:
    if not isinstance(answer, Response):
        return {}
    try:
        document = answer.json()
    except ValueError:
        return {}
    error = document.get("error") if isinstance(document, dict) else None
    return error if isinstance(error, dict) else {}


def _is_review(document: Any, review: str) -> bool:
    """Compared by the id alone: Google may name an account otherwise than we do."""
    name = document.get("name") if isinstance(document, dict) else None
    return isinstance(name, str) and name.split("/")[-2:] == review.split("/")[-2:]


def _bare(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _moment(value: Any) -> datetime | None:
    """The time of an RFC 3339 text with its offset."""
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else None


def _word(value: Any) -> str:
    """An enum's value; anything else counts as not said."""
    return value if isinstance(value, str) and re.fullmatch(r"[A-Z_]{1,100}", value) else ""


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
