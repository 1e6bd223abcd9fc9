"""The words of the pages: states, durations, sizes, operations. One place, so that a thing has one name everywhere."""

from datetime import UTC, datetime, timedelta

from approvals.domain.states import DraftState
from approvals.selectors.queue import MANY

STATE_LABELS = {
    **{state.value: state.value.replace("_", " ").capitalize() for state in DraftState},
    "superseded": "Superseded",
}

STATE_SAYS = {
    DraftState.DRAFT: "Only the author works on it",
    DraftState.IN_REVIEW: "Waiting for reviewers",
    DraftState.CHANGES_REQUESTED: "Waiting for the author",
    DraftState.APPROVED: "People agreed; nothing is sent",
    DraftState.SUBMITTING: "A worker is sending it",
    DraftState.SUBMITTED: "The remote took the request; not read back yet",
    DraftState.CONFIRMED: "Read back: it is there",
    DraftState.DELIVERY_UNKNOWN: "It may or may not be there",
    DraftState.FAILED: "The remote does not have it",
    DraftState.REJECTED: "A reviewer said no",
    DraftState.EXPIRED: "Time ran out",
    DraftState.REVOKED: "Taken back before sending",
    DraftState.RETRACTING: "Being undone at the remote",
    DraftState.RETRACTED: "Read back: it is gone",
    DraftState.RETRACTION_UNKNOWN: "It may or may not still be there",
    DraftState.RETRACTION_FAILED: "Still public: it could not be undone",
}

READ_BACK_SAYS = {
    "differs": "Read back: it differs from what was approved",
    "gone": "Read back: it is gone",
    "replaced": "A newer write replaced it",
    "impossible": "The remote took it; it cannot be read back",
}
"""What a submitted draft says once the read-back could not confirm it."""

_DAY, _HOUR, _MINUTE = 86_400, 3_600, 60


def plural(number: int, noun: str, many: str = "") -> str:
    """Gives `1 byte`, `2 bytes`, `1,024 bytes`."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def sentence(text: str) -> str:
    """Gives a reason with a full stop, so that the next sentence can follow; remotes often leave it out."""
    text = text.strip()
    return f"{text}." if text and text[-1].isalnum() else text


def capped(number: int) -> str:
    """Gives the number, or `more than 1,000`; selectors stop counting one above the cap."""
    return f"{number:,}" if number <= MANY else f"more than {MANY:,}"


def span(duration: timedelta) -> str:
    """Gives a duration as people say it: `40 s`, `9 min`, `1 h 52 min`, `6 h`, `3 d`; always rounded down."""
    seconds = max(int(duration.total_seconds()), 0)
    if seconds < _MINUTE:
        return f"{seconds} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE} min"
    if seconds < 6 * _HOUR:
        return f"{seconds // _HOUR} h {seconds % _HOUR // _MINUTE:02} min"
    return f"{seconds // _HOUR} h" if seconds < 2 * _DAY else f"{seconds // _DAY} d"


def moment(at: datetime, now: datetime, *, seconds: bool = False) -> str:
    """Gives a time in UTC, with its day unless that is today: `13:44`, `12 Mar 13:44`, `12 Mar 2025 13:44`."""
    at, now = at.astimezone(UTC), now.astimezone(UTC)
    clock = at.strftime("%H:%M:%S" if seconds else "%H:%M")
    if at.date() == now.date():
        return clock
    return f"{at.day} {at:%b}{'' if at.year == now.year else f' {at.year}'} {clock}"


def operation(name: str) -> str:
    """Gives an operation as a person would say it: `ticket.create` becomes `Create ticket`."""
    *things, verb = name.replace("_", " ").replace("-", " ").split(".")
    return " ".join((verb.capitalize(), *things))


def names(people: list[str]) -> str:
    """Gives `ada`, `ada and ben`, `ada, ben and cleo`."""
    if len(people) < 2:
        return "".join(people)
    return f"{', '.join(people[:-1])} and {people[-1]}"
