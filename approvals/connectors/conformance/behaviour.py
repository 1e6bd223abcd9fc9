"""How a remote may treat a call, and the one right answer of a connector to each."""

from dataclasses import dataclass
from enum import StrEnum

from approvals.connectors.base import Outcome


class Verb(StrEnum):
    """What a remote is asked to do. Steps before it (a log-in, a token, a link) are none of these."""

    SEND = "send"
    RETRACT = "retract"
    LOOKUP = "lookup"
    VERIFY = "verify"
    READ = "read"


class Behaviour(StrEnum):
    """What the remote does with the next call of a verb, once it holds the whole of it (but for the last two)."""

    APPLY = "apply"  # does it and says so: what a healthy remote does
    APPLY_AND_HANG_UP = "apply_and_hang_up"  # does it and ends the connection without an answer
    APPLY_AND_HANG = "apply_and_hang"  # does it and never answers
    APPLY_AND_CUT = "apply_and_cut"  # does it, and its answer breaks off in the middle
    APPLY_AND_DRIP = "apply_and_drip"  # does it, and its answer comes a byte at a time, for ever
    APPLY_AND_FLOOD = "apply_and_flood"  # does it, and its answer is longer than anybody reads
    APPLY_AND_COMPLAIN = "apply_and_complain"  # does it, and its own document of success reports an error beside it
    APPLY_AND_FAIL = "apply_and_fail"  # does it and reports a failure of its own (5xx)
    HANG_UP = "hang_up"  # does nothing and ends the connection
    HANG = "hang"  # does nothing and never answers
    FAIL = "fail"  # does nothing and reports a failure of its own (5xx); what was to be read may stand beside it
    REFUSE = "refuse"  # a clear no to this very thing
    ECHO = "echo"  # a clear no that repeats all it got, credentials too, and goes on for 100 kB
    LATER = "later"  # asks to come later (429)
    LOCK_OUT = "lock_out"  # does not accept the credentials (401)
    FORBID = "forbid"  # accepts them and does not allow it (403)
    CONFLICT = "conflict"  # says that it is in the way of something (409)
    REDIRECT = "redirect"  # sends us elsewhere
    NONSENSE = "nonsense"  # says yes, in a document that is not its own
    GARBAGE = "garbage"  # answers with bytes that are not even its protocol
    UNREACHABLE = "unreachable"  # nobody listens
    SILENT = "silent"  # the connection never comes about


@dataclass(frozen=True)
class Expected:
    """The only right receipt, and whether the remote has acted."""

    outcome: Outcome
    acted: bool = False
    pause: bool = False


_UNKNOWN = Expected(Outcome.UNKNOWN)
_UNKNOWN_BUT_DONE = Expected(Outcome.UNKNOWN, acted=True)
_NOT_SENT = Expected(Outcome.NOT_SENT)

RECEIPTS: dict[Behaviour, Expected] = {
    Behaviour.APPLY: Expected(Outcome.DELIVERED, acted=True),
    Behaviour.APPLY_AND_HANG_UP: _UNKNOWN_BUT_DONE,
    Behaviour.APPLY_AND_HANG: _UNKNOWN_BUT_DONE,
    Behaviour.APPLY_AND_CUT: _UNKNOWN_BUT_DONE,
    Behaviour.APPLY_AND_DRIP: _UNKNOWN_BUT_DONE,
    Behaviour.APPLY_AND_FLOOD: _UNKNOWN_BUT_DONE,
    Behaviour.APPLY_AND_COMPLAIN: _UNKNOWN_BUT_DONE,
    Behaviour.APPLY_AND_FAIL: _UNKNOWN_BUT_DONE,
    Behaviour.HANG_UP: _UNKNOWN,
    Behaviour.HANG: _UNKNOWN,
    Behaviour.FAIL: _UNKNOWN,
    Behaviour.CONFLICT: _UNKNOWN,
    Behaviour.REDIRECT: _UNKNOWN,
    Behaviour.NONSENSE: _UNKNOWN,
    Behaviour.GARBAGE: _UNKNOWN,
    Behaviour.REFUSE: Expected(Outcome.REFUSED),
    Behaviour.ECHO: Expected(Outcome.REFUSED),
    Behaviour.LATER: _NOT_SENT,
    Behaviour.LOCK_OUT: Expected(Outcome.NOT_SENT, pause=True),
    Behaviour.FORBID: Expected(Outcome.NOT_SENT, pause=True),
    Behaviour.UNREACHABLE: _NOT_SENT,
    Behaviour.SILENT: _NOT_SENT,
}
"""Of a write and of a retraction alike."""

EVERY = frozenset(Behaviour)
READING = EVERY - {behaviour for behaviour in Behaviour if behaviour.startswith("apply")}
"""What a remote may do to a look-up, a read-back or a reading; every one of them leaves the answer unknown."""
SLOW = frozenset({Behaviour.APPLY_AND_HANG, Behaviour.APPLY_AND_DRIP, Behaviour.HANG, Behaviour.SILENT})
"""Only the deadline ends these."""
