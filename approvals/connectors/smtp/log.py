"""How far a dialogue came and what the server said, as evidence."""

import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from approvals.connectors import secrets
from approvals.connectors.answers import storable
from approvals.connectors.secrets import Secret
from approvals.connectors.smtp.wire import Reply

MAX_CHARACTERS = 2048  # of the server's words, in all


class Phase(StrEnum):
    NAME = "name"
    CONNECT = "connect"
    TLS = "tls"
    GREETING = "greeting"
    EHLO = "ehlo"
    STARTTLS = "starttls"
    AUTH = "auth"
    MAIL = "mail"
    RCPT = "rcpt"
    DATA = "data"
    CONTENT = "content"
    ANSWER = "answer"  # the final dot may have left


@dataclass
class Log:
    """Of one attempt."""

    phase: Phase = Phase.NAME
    begun: float = field(default_factory=time.monotonic)
    replies: list[tuple[Phase, Reply]] = field(default_factory=list)
    hidden: tuple[Secret, ...] = field(default=(), repr=False)
    _entered: float = field(default_factory=time.monotonic)
    _took: dict[Phase, float] = field(default_factory=dict)  # seconds

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    def enter(self, phase: Phase) -> None:
        """Go on to the next phase, or once more to an earlier one: its times add up."""
        now = time.monotonic()
        self._took[self.phase] = self._took.get(self.phase, 0.0) + now - self._entered
        self.phase, self._entered = phase, now

    @property
    def timing(self) -> dict[str, float]:
        """Milliseconds each phase took, and all of it. What is missing was not reached."""
        self.enter(self.phase)
        took = {phase.value: seconds for phase, seconds in self._took.items()} | {"total": self.seconds}
        return {name: round(seconds * 1000, 1) for name, seconds in took.items()}

    def evidence(self, url: str) -> dict[str, Any]:
        """What may be stored and shown. The last replies say most, so room is given from the end."""
        left = MAX_CHARACTERS
        kept: list[dict[str, Any]] = []
        for phase, reply in reversed(self.replies):
            text = storable(secrets.redact(reply.text, self.hidden))
            kept.append({"phase": phase.value, "code": reply.code, "text": text[:left]})
            left -= len(kept[-1]["text"])
        return {"url": url, "phase": self.phase.value, "replies": kept[::-1], "timing": self.timing}
