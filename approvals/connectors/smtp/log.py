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
    timing: dict[str, int] = field(default_factory=dict)  # milliseconds from the beginning to each phase
    replies: list[tuple[Phase, Reply]] = field(default_factory=list)
    hidden: tuple[Secret, ...] = field(default=(), repr=False)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    def enter(self, phase: Phase) -> None:
        self.phase = phase
        self.timing.setdefault(phase.value, round(self.seconds * 1000))

    def evidence(self, url: str) -> dict[str, Any]:
        """What may be stored and shown. The last replies say most, so room is given from the end."""
        left = MAX_CHARACTERS
        kept: list[dict[str, Any]] = []
        for phase, reply in reversed(self.replies):
            text = storable(secrets.redact(reply.text, self.hidden))
            kept.append({"phase": phase.value, "code": reply.code, "text": text[:left]})
            left -= len(kept[-1]["text"])
        timing = {**self.timing, "end": round(self.seconds * 1000)}
        return {"url": url, "phase": self.phase.value, "replies": kept[::-1], "timing": timing}
