"""What became of a message, from how far the dialogue came and how it ended.

Before the final dot everything proves that no message was taken, unless the server says that it took one. After the
dot only a whole reply proves anything: 250 says that the message was taken, 4yz and 5yz that it was not and never
will be (RFC 5321, 4.2.5). The rest is unknown.
"""

import ssl
from typing import Any

from approvals.connectors.addresses import AddressError
from approvals.connectors.base import Outcome, Receipt
from approvals.connectors.secrets import SecretError
from approvals.connectors.smtp.dialogue import Said, TooLate, Unfit
from approvals.connectors.smtp.log import Phase
from approvals.connectors.smtp.wire import Garbled, Reply, SpokeTooSoon

EXPECTED = (AddressError, SecretError, Said, Unfit, TooLate, Garbled, SpokeTooSoon, OSError, UnicodeError)

_LOG_IN_FIRST = (530, 534, 535, 538)
_ABOUT_COMMANDS = range(500, 505)  # after the dot: it did not know that it was being given a message
_TOO_BIG = 552
_OF_THE_CHANNEL = (Phase.GREETING, Phase.EHLO, Phase.STARTTLS, Phase.AUTH, Phase.MAIL)


def of_reply(reply: Reply, message_id: str, evidence: dict[str, Any]) -> Receipt:
    """The receipt for the reply to the final dot."""
    code = reply.code
    if code == 250:
        return Receipt(Outcome.DELIVERED, "The mail server took the message (250).", message_id, evidence)
    if code in _LOG_IN_FIRST:
        return Receipt(Outcome.NOT_SENT, f"The mail server does not let us in ({code}).", None, evidence, pause=True)
    if 400 <= code < 500:
        return Receipt(Outcome.NOT_SENT, f"The mail server asked to come later ({code}).", None, evidence)
    if code >= 500 and code not in _ABOUT_COMMANDS:
        return Receipt(Outcome.REFUSED, f"The mail server refused the message ({code}).", None, evidence)
    reason = f"The mail server answered the message with {code}; it may or may not have taken it."
    return Receipt(Outcome.UNKNOWN, reason, None, evidence)


def of_error(error: Exception, phase: Phase, evidence: dict[str, Any]) -> Receipt:
    """The receipt for a dialogue that broke off."""
    if phase is Phase.ANSWER:
        reason = f"The message may have been taken, no clear answer came: {told(error)}"
        return Receipt(Outcome.UNKNOWN, reason, None, evidence)
    if isinstance(error, Said) and phase is Phase.CONTENT and error.reply.code < 300:
        reason = f"The mail server answered {error.reply.code} before the message was complete."
        return Receipt(Outcome.UNKNOWN, reason, None, evidence)
    if isinstance(error, Said):
        return _of_no(error, phase, evidence)
    pause = isinstance(error, AddressError | SecretError | Unfit | SpokeTooSoon | ssl.SSLCertVerificationError)
    return Receipt(Outcome.NOT_SENT, _why(error, phase), None, evidence, pause=pause)


def told(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "time ran out"
    return str(error) or type(error).__name__


def _of_no(error: Said, phase: Phase, evidence: dict[str, Any]) -> Receipt:
    """A reply that ends the dialogue before the message was given."""
    code = error.reply.code
    whom = f" for {', '.join(error.about)}, so nobody was written to" if error.about else ""
    where = f"at {phase.value.upper()}{whom}"
    locked_out = code in _LOG_IN_FIRST or (phase in _OF_THE_CHANNEL and code >= 500 and code != _TOO_BIG)
    if locked_out:
        # It is about the channel and not about this message: the next one would be told the same.
        return Receipt(Outcome.NOT_SENT, f"The mail server said no ({code}) {where}.", None, evidence, pause=True)
    if code >= 500:
        return Receipt(Outcome.REFUSED, f"The mail server refused it ({code}) {where}.", None, evidence)
    if code >= 400:
        return Receipt(Outcome.NOT_SENT, f"The mail server asked to come later ({code}) {where}.", None, evidence)
    return Receipt(Outcome.NOT_SENT, f"The mail server answered out of order ({code}) {where}.", None, evidence)


def _why(error: Exception, phase: Phase) -> str:
    match error:
        case AddressError():
            return f"No connection was made: {error}"
        case SecretError():
            return str(error)
        case Unfit():
            return f"The mail server cannot be used: {error}."
        case SpokeTooSoon():
            return "The mail server spoke before the connection was secure; somebody may be in between."
        case ssl.SSLCertVerificationError():
            return f"The mail server's certificate was not accepted: {error.verify_message}"
        case TooLate():
            return "The time to send had passed before the message could leave."
    sentences = {Phase.NAME: "The mail server's name did not resolve", Phase.CONNECT: "No connection could be made"}
    return f"{sentences.get(phase, f'No message was given: the dialogue broke off at {phase.value}')}: {told(error)}"
