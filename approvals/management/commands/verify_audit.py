"""`verify_audit`: checks all history, offline, and names the first bad row."""

import json
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey

from approvals.management.errors import told
from approvals.management.progress import progress_bar
from approvals.models import AuditEvent
from approvals.services import signing_keys, verify, verify_export
from approvals.services.verify_chains import Fault
from approvals.services.verify_export import Exported

NAMED_AT_MOST = 1000
"""Faults that are printed; a database that was written anew has one in every chain."""


class Command(BaseCommand):
    """Reads everything once; changes nothing."""

    help = (
        "Recomputes every audit chain, compares stored bytes with their digests, and checks that every draft stands "
        "in a combination of states that lawful steps can reach. With --checkpoints also compares with what the audit "
        "sink was told, and so notices a tail that was cut off. With --export reads a file instead of the database. "
        "Exit code 1 if anything is wrong."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--format", choices=("text", "json"), default="text", help="words (default) or JSON")
        parser.add_argument(
            "--checkpoints",
            type=Path,
            action="append",
            default=[],
            metavar="FILE",
            help="what the audit sink holds, as JSON lines; once for each file",
        )
        parser.add_argument("--export", type=Path, metavar="FILE", help="verify this file; no database is used")
        parser.add_argument("--manifest", type=Path, metavar="FILE", help="of a CSV; default: FILE.manifest.json")
        parser.add_argument(
            "--keys", type=Path, metavar="FILE", help="public keys, as /.well-known/jwks.json; default: our own"
        )

    def handle(self, *, format: str, **options: Any) -> None:  # noqa: A002  the option's name
        seen: Counter[str] = Counter()
        found: list[Fault] = []
        number = 0
        with told(), progress_bar(show=sys.stderr.isatty(), total=_total(options)) as progress:
            for fault in _faults(seen, progress, **options):
                number += 1
                found += [fault] if number <= NAMED_AT_MOST else []
                if format == "text" and number <= NAMED_AT_MOST:
                    self.stdout.write(f"{fault} [{fault.kind}]")
        if format == "json":
            self.stdout.write(json.dumps({"checked": seen, "faults": number, "problems": list(map(_told, found))}))
        checked = ", ".join(f"{amount} {name}" for name, amount in seen.items()) or "nothing there yet"
        if number:
            raise CommandError(
                f"{number} faults; checked {checked}. Stop the workers, keep a copy of the database, and compare "
                "the named rows with the audit sink and the newest backup."
            )
        if format == "text":
            self.stdout.write(f"Everything agrees: {checked}.")


def _faults(
    seen: Counter[str], progress: Any, *, checkpoints: list[Path], export: Path | None, **options: Any
) -> Iterator[Fault]:
    keys = list(_keys(options["keys"])) if checkpoints or export else []
    on_its_way = verify.on_its_way() if checkpoints and not export else Counter()
    try:
        sink = verify.sink_record(checkpoints, keys, seen)
        yield from sink.faults
        if export is not None:
            yield from verify_export.faults(Exported(export, options["manifest"]), keys, seen, sink, progress)
        else:
            yield from verify.faults(seen, sink=sink if checkpoints else None, progress=progress)
            yield from sink.not_there(on_its_way)
    except OSError as exc:
        raise CommandError(f"{exc.filename} cannot be read: {exc.strerror}.") from exc


def _total(options: dict[str, Any]) -> int | None:
    return AuditEvent.objects.count() if options["export"] is None and sys.stderr.isatty() else None


def _keys(file: Path | None) -> tuple[OKPKey, ...]:
    """Gives the keys that may have signed: of a file of public keys, or all that this installation ever had."""
    if file is None:
        ours = signing_keys.path()
        return signing_keys.read(ours).known if ours.exists() else ()
    try:
        return tuple(OKPKey.import_key(key) for key in json.loads(file.read_text(encoding="utf-8"))["keys"])
    except (OSError, ValueError, KeyError, TypeError, JoseError) as exc:
        raise CommandError(f"{file} is no set of public keys: {exc}.") from exc


def _told(fault: Fault) -> dict[str, Any]:
    return {"kind": fault.kind, "chain": fault.chain or None, "seq": fault.seq, "problem": str(fault)}
