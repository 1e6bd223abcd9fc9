"""What an API's answers say, where the channel's pointers lead."""

from typing import Any

import rfc8785

from approvals.connectors import secrets
from approvals.connectors.answers import Answer, Failure, Response, storable
from approvals.connectors.base import Lookup, Match, Reading, Sighting, Verification
from approvals.connectors.classify import says_error, usable_id
from approvals.domain import pointer as pointers

_GONE = (404, 410)


def sighting(answer: Answer, template: dict[str, Any], delivery_id: str) -> Lookup:
    """Whether a look-up's answer shows the delivery."""
    if isinstance(answer, Failure):
        return Lookup(Sighting.UNKNOWN, answer.reason, evidence=answer.evidence)
    if answer.status == 404 and template.get("absent_on_404"):
        return Lookup(Sighting.ABSENT, "The remote has nothing under this delivery id.", evidence=answer.evidence)
    try:
        document = _document(answer)
        if says_error(document):
            raise ValueError("the remote answered 200 and reported an error.")
        found = pointers.resolve(document, template["id_pointer"])
        same = "match_pointer" not in template or pointers.resolve(document, template["match_pointer"]) == delivery_id
    except IndexError:  # a list, and it ends before the place where the id would stand
        return Lookup(Sighting.ABSENT, "The remote lists nothing for this delivery id.", evidence=answer.evidence)
    except (LookupError, ValueError) as exc:
        return Lookup(Sighting.UNKNOWN, f"The answer cannot be read: {exc}", evidence=answer.evidence)
    if found is None:
        return Lookup(Sighting.ABSENT, "The remote says that there is no such id.", evidence=answer.evidence)
    remote_id = usable_id(found)
    if remote_id is None or not same or answer.shows_secret(remote_id):
        return Lookup(Sighting.UNKNOWN, "The answer is about something else.", evidence=answer.evidence)
    return Lookup(Sighting.FOUND, f"The remote has it as {remote_id}.", remote_id, answer.evidence)


def match(answer: Answer, pointer: str, approved: bytes) -> Verification:
    """Whether a read-back shows what was approved."""
    if isinstance(answer, Failure):
        return Verification(Match.UNKNOWN, answer.reason, answer.evidence)
    if answer.status in _GONE:
        return Verification(Match.GONE, f"The remote answered {answer.status}.", answer.evidence)
    try:
        document = _document(answer)
        shown = pointers.resolve(document, pointer)
    except (LookupError, ValueError) as exc:
        return Verification(Match.UNKNOWN, f"The answer cannot be read: {exc}", answer.evidence)
    if _canonical(shown) == approved:
        return Verification(Match.EQUAL, "The remote shows what was approved.", answer.evidence)
    if says_error(document):
        return Verification(Match.UNKNOWN, "The remote answered 200 and reported an error.", answer.evidence)
    return Verification(Match.DIFFERS, "The remote shows something else than what was approved.", answer.evidence)


def reading(answer: Answer, pointer: str) -> Reading:
    """What a target holds, as the reading's answer shows it."""
    if isinstance(answer, Failure):
        return Reading(False, answer.reason, None, answer.evidence)
    if answer.status in _GONE:
        return Reading(True, f"Nothing stands there: the remote answered {answer.status}.", None, answer.evidence)
    try:
        document = _document(answer)
        if says_error(document):
            raise ValueError("the remote answered 200 and reported an error.")
        shown = pointers.resolve(document, pointer)
    except (LookupError, ValueError) as exc:
        return Reading(False, f"The answer cannot be read: {exc}", None, answer.evidence)
    if not isinstance(shown, dict):
        return Reading(False, "The answer holds no object where the payload would stand.", None, answer.evidence)
    content = storable(secrets.redact(shown, answer.hidden))
    return Reading(True, "The remote shows this.", content, answer.evidence)


def _document(answer: Response) -> Any:
    """The JSON of a plain success. Raises ValueError."""
    if answer.status != 200:
        raise ValueError(f"the remote answered {answer.status}.")
    return answer.json()


def _canonical(value: Any) -> bytes | None:
    try:
        return rfc8785.dumps(value)
    except rfc8785.CanonicalizationError:
        return None  # no approved payload can hold such a value
