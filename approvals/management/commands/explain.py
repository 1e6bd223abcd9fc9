"""`explain RR-1042`: where a draft stands and why it is not sent."""

import json
import re
from argparse import ArgumentParser, ArgumentTypeError
from dataclasses import asdict
from typing import Any

from django.core.management import BaseCommand, CommandError

from approvals.management.errors import told
from approvals.models import Draft
from approvals.services.door import database_now
from approvals.services.explain import Explanation, explain, headline

_OF = {"write": "", "retract": "retraction "}
_REFERENCE = re.compile(r"(?:RR-)?([0-9]{1,18})", re.IGNORECASE)


class Command(BaseCommand):
    """Reads only."""

    help = (
        "Says why a draft is not sent, what became of it and what comes next; then shows its approval, dispatch claim, "
        "delivery, retraction, attempts, what was seen at the remote, and every reason of the gate it stands before."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("draft", type=_draft_id, metavar="RR-1042", help="the draft's reference or number")
        parser.add_argument("--format", choices=("text", "json"), default="text", help="words (default) or JSON")

    def handle(self, *, draft: int, format: str, **options: Any) -> None:  # noqa: A002  the option's name
        with told():
            known = Draft.objects.filter(pk=draft).first()
            if known is None:
                raise CommandError(f"There is no draft RR-{draft}. Its page shows the reference at the top.")
            found = explain(known, now=database_now())
        if format == "json":
            self.stdout.write(json.dumps(asdict(found), ensure_ascii=False))
        else:
            self._write(found)

    def _write(self, found: Explanation) -> None:
        self.stdout.write(self.style.MIGRATE_HEADING(headline(found)))
        for sentence in found.because:
            self.stdout.write(f"  {sentence}")
        for sentence in found.next:
            self.stdout.write(f"  -> {sentence}")
        for name in ("draft", "approval", "dispatch_claim", "delivery", "retraction", "corrections"):
            self._section(name, getattr(found, name))
        for attempt in found.attempts:
            self._section(f"{_OF[attempt['kind']]}attempt {attempt['number']}", attempt)
        for seen in found.observations:
            self._section(f"{_OF[seen['of']]}{seen['kind']}", seen)
        self._section("gate", found.gate and _gate_rows(found.gate))

    def _section(self, name: str, rows: dict[str, Any] | None) -> None:
        told = {key: value for key, value in (rows or {}).items() if value not in (None, "", [])}
        self.stdout.write(self.style.MIGRATE_LABEL(f"\n{name.replace('_', ' ')}{'' if told else ': none'}"))
        for key, value in told.items():
            shown = ", ".join(value) if isinstance(value, list) else value
            self.stdout.write(f"  {key.replace('_', ' '):<20} {shown}")


def _gate_rows(gate: dict[str, Any]) -> dict[str, Any]:
    reasons = {reason["cause"]: reason["message"] for reason in gate["reasons"]}
    return {"name": gate["name"], "says": "yes" if gate["open"] else "no", **reasons}


def _draft_id(text: str) -> int:
    match = _REFERENCE.fullmatch(text.strip())
    if match is None:
        raise ArgumentTypeError(f"{text} is no draft; give its reference, like RR-1042")
    return int(match[1])
