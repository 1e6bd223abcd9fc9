"""The evidence of one attempt or look: what was kept of the answer, as facts, headers, times and text.

Connectors of others may keep what they like: whatever has no place of its own is shown as JSON, never left out.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from approvals.web.cards.facts import Fact

LABELS = {
    "status": "Status",
    "url": "Address",
    "phase": "Came as far as",
    "fault": "Failed at",
    "error": "Error",
    "by": "Recorded by",
    "outcome": "Recorded as",
    "remote_id": "Remote object",
}
PHASES = {
    "name": "name",
    "connect": "connect",
    "tls": "TLS",
    "sent": "request handed over",
    "answered": "answer read",
    "ehlo": "EHLO",
    "starttls": "STARTTLS",
    "mail": "MAIL",
    "rcpt": "RCPT",
    "data": "DATA",
    "total": "in all",
}
FAULTS = {
    "address": "our own rule on addresses",
    "secret": "the secret",
    "certificate": "the remote's certificate",
    "too_late": "the lease: the time to send had passed",
    "lost": "the answer: the request may have left",
}
PLACED = frozenset({*LABELS, "headers", "timing", "body", "complete", "replies", "evidence"})


@dataclass(frozen=True, slots=True)
class Evidence:
    """`body` is the beginning of the answer; `said` is the dialogue of remotes that answer in lines."""

    facts: tuple[Fact, ...]
    headers: tuple[Fact, ...]
    timing: str
    said: str
    body: str
    body_note: str


def evidence(kept: Any, more: tuple[Fact, ...] = ()) -> Evidence | None:
    """Gives what was kept, or nothing where nothing was; `more` are facts from elsewhere about the same try."""
    known = kept if isinstance(kept, dict) else {"evidence": kept} if kept else {}
    shown = Evidence(
        facts=(*_facts(known), *more),
        headers=tuple(_headers(known.get("headers"))),
        timing=_timing(known.get("timing")),
        said=_said(known.get("replies")),
        body=_text(known.get("body")) or _text(known.get("evidence")),
        body_note=_cut(known),
    )
    return shown if known or more else None


def status(kept: Any) -> str:
    """Gives the remote's answer as a number: an HTTP status, or the last code of a dialogue."""
    if not isinstance(kept, dict):
        return "none"
    replies = kept.get("replies")
    last = replies[-1] if isinstance(replies, list) and replies else None
    code = kept.get("status", last.get("code") if isinstance(last, dict) else None)
    return str(code) if isinstance(code, int) and not isinstance(code, bool) else "none"


def _facts(kept: Mapping[str, Any]) -> Iterator[Fact]:
    for key, label in LABELS.items():
        if kept.get(key) not in (None, ""):
            yield Fact(label, _word(key, kept[key]), is_code=key in ("url", "remote_id"))
    for key, value in kept.items():
        if key not in PLACED:
            yield Fact(str(key).replace("_", " ").capitalize(), _text(value), is_code=not isinstance(value, str))


def _word(key: str, value: Any) -> str:
    text = _text(value)
    if key == "fault" and text in FAULTS:
        return FAULTS[text]
    if key in ("phase", "fault"):
        return PHASES.get(text, text).replace("_", " ")
    return text.replace("_", " ") if key == "outcome" else text


def _headers(headers: Any) -> Iterator[Fact]:
    if isinstance(headers, dict):
        for name, value in headers.items():
            yield Fact(str(name), _text(value))


def _timing(timing: Any) -> str:
    """Gives `connect 3.1 ms, TLS 20 ms, in all 24 ms`, as far as it came."""
    if not isinstance(timing, dict):
        return ""
    order = list(PHASES)  # a database may give the keys in an order of its own
    phases = sorted(timing, key=lambda phase: order.index(phase) if phase in PHASES else len(order))
    return ", ".join(f"{PHASES.get(str(phase), phase)} {_text(timing[phase])} ms" for phase in phases)


def _said(replies: Any) -> str:
    if not isinstance(replies, list):
        return ""
    lines = (reply for reply in replies if isinstance(reply, dict))
    return "\n".join(f"{reply.get('phase', '')} {reply.get('code', '')} {reply.get('text', '')}" for reply in lines)


def _cut(kept: Mapping[str, Any]) -> str:
    return "Only the beginning was kept, or the answer was cut off." if kept.get("complete") is False else ""


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
