"""How far one call came, how long each phase took, and what a failure on the way means."""

import asyncio
import os
import ssl
import time
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum

import aiohttp

from approvals.connectors.addresses import AddressError
from approvals.connectors.answers import Fault
from approvals.connectors.base import Deadline
from approvals.connectors.secrets import SecretError


class Phase(StrEnum):
    """What was reached, in this order. A kept connection begins at SENT, one to an address at CONNECT."""

    NAME = "name"  # the host's addresses are known
    CONNECT = "connect"  # the connection stands
    TLS = "tls"  # and is secure
    SENT = "sent"  # the whole request was handed to the system
    ANSWERED = "answered"  # the whole answer was read


class TooLate(Exception):
    """The lease this request was to be sent under may be over."""


class Broken(Exception):
    """The connection ended. Not a ClientError, so that aiohttp does not send an idempotent method twice."""


EXPECTED = (AddressError, SecretError, TooLate, aiohttp.ClientError, OSError, ValueError)
"""What may go wrong before the first byte; anything else is a fault of the program and is raised."""


@dataclass
class Call:
    """One call under way. `sent` turns true right before the first byte may leave, never back."""

    deadline: Deadline
    has_body: bool
    allow_private: bool = False
    sent: bool = False
    refused_address: str = ""
    under_way: Fault = Fault.CONNECT  # what a failure before the first byte would be
    transport: asyncio.Transport | None = None
    _dialled: bool = False
    _begun: float = field(default_factory=time.monotonic)
    _took: dict[Phase, float] = field(default_factory=dict)  # seconds

    def reached(self, phase: Phase) -> None:
        """Note the time of a phase, once."""
        if phase not in self._took:
            self._took[phase] = time.monotonic() - self._begun - sum(self._took.values())

    def resolves(self) -> None:
        """Say that a name is about to be resolved."""
        self.under_way = Fault.NAME

    def dials(self) -> None:
        """Say that a connection is about to be made."""
        if self.under_way is Fault.NAME:
            self.reached(Phase.NAME)
        self.under_way, self._dialled = Fault.CONNECT, True

    def shakes_hands(self) -> None:
        """Say that the connection stands and is about to be made secure."""
        self.reached(Phase.CONNECT)
        self.under_way = Fault.TLS

    def is_ready(self) -> None:
        """Say that the request can be written. A kept connection was neither made nor secured by this call."""
        if self._dialled:
            self.reached(Phase.TLS if self.under_way is Fault.TLS else Phase.CONNECT)

    def abandon(self) -> None:
        """Let nothing more leave for a call that got no whole answer: closing alone would still write what waits."""
        if self.transport is not None and Phase.ANSWERED not in self._took:
            self.transport.abort()

    def check_clock(self) -> None:
        if self.deadline.too_late:
            raise TooLate

    @property
    def timing(self) -> dict[str, float]:
        """Milliseconds each phase took, and all of it. What is missing was not reached."""
        took = {**self._took, "total": time.monotonic() - self._begun}
        return {str(phase): round(seconds * 1000, 1) for phase, seconds in took.items()}


current: ContextVar[Call] = ContextVar("outbound_call")

_ON_THE_WAY = {
    Fault.NAME: "The host's name did not resolve",
    Fault.CONNECT: "No connection could be made",
    Fault.TLS: "No secure connection could be made",
}


def explain(exc: Exception, call: Call) -> tuple[Fault, str]:
    """The fault and a sentence. What is not known to be early counts as lost."""
    if isinstance(exc, AddressError) or call.refused_address:
        return Fault.ADDRESS, f"No connection was made: {call.refused_address or exc}"
    if isinstance(exc, SecretError):
        return Fault.SECRET, str(exc)
    if call.sent:
        return Fault.LOST, f"The connection ended after the request may have left: {_told(exc)}"
    if isinstance(exc, TooLate):
        return Fault.TOO_LATE, "The time to send had passed before the first byte could leave."
    if isinstance(exc, aiohttp.ClientConnectorCertificateError):
        return Fault.CERTIFICATE, f"The remote's certificate was not accepted: {_told(exc)}"
    fault = Fault.NAME if isinstance(exc, aiohttp.ClientConnectorDNSError) else call.under_way
    return fault, f"{_ON_THE_WAY[fault]}: {_told(exc)}"


def _told(exc: Exception) -> str:
    """The cause in the system's own words, without the client's wrapping."""
    if isinstance(exc, TimeoutError):
        return "time ran out"
    if isinstance(exc, aiohttp.ClientConnectorCertificateError):
        return str(getattr(exc.certificate_error, "verify_message", "") or exc.certificate_error)
    cause = exc.os_error if isinstance(exc, aiohttp.ClientConnectorError) else exc
    if isinstance(cause, OSError) and not isinstance(cause, ssl.SSLError) and (cause.errno or 0) > 0:
        return os.strerror(cause.errno or 0)
    return str(cause) or type(cause).__name__
