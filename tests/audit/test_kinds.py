"""verify_audit names the first bad row of a chain and what is wrong with it, in the database and in a file alike."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

from approvals.models import AuditChain, AuditEvent, Draft
from tests.audit.conftest import Verify, event, kinds, lift_walls
from tests.cast import Story

pytestmark = pytest.mark.broken_on_purpose
Damage = Callable[[str], None]


@pytest.fixture
def draft(story: Story) -> Draft:
    found = story.approved()
    lift_walls()
    return found


def alter_a_body(chain: str) -> None:
    row = event(chain, 3)
    AuditEvent.objects.filter(pk=row.pk).update(body=row.body.replace('"api"', '"web"'))


def alter_a_hash(chain: str) -> None:
    AuditEvent.objects.filter(pk=event(chain, 3).pk).update(hash="f" * 64)


def take_one_out(chain: str) -> None:
    event(chain, 3).delete()


def exchange_two(chain: str) -> None:
    third, fourth = event(chain, 3), event(chain, 4)
    AuditEvent.objects.filter(pk=third.pk).update(seq=99)
    AuditEvent.objects.filter(pk=fourth.pk).update(seq=3)
    AuditEvent.objects.filter(pk=third.pk).update(seq=4)


def replace_one(chain: str) -> None:
    """Puts a whole event of the same number in its place, which the next one does not follow."""
    row = event(chain, 3)
    body = row.body.replace('"api"', '"web"')
    AuditEvent.objects.filter(pk=row.pk).update(body=body, hash=hashlib.sha256(body.encode()).hexdigest())


DAMAGES = [
    (alter_a_body, "altered", 3),
    (alter_a_hash, "altered", 3),
    (take_one_out, "missing", 3),
    (exchange_two, "reordered", 3),
    (replace_one, "forked", 4),
]


@pytest.mark.parametrize(("damage", "kind", "seq"), DAMAGES)
def test_the_first_bad_row_in_the_database_is_named(
    draft: Draft, verify: Verify, damage: Damage, kind: str, seq: int
) -> None:
    chain = f"draft:{draft.pk}"
    damage(chain)
    assert kinds(verify())[0] == (kind, chain, seq)


@pytest.mark.parametrize(("damage", "kind", "seq"), DAMAGES)
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_the_first_bad_row_in_a_file_is_named(
    draft: Draft, verify: Verify, tmp_path: Path, form: str, damage: Damage, kind: str, seq: int
) -> None:
    chain = f"draft:{draft.pk}"
    damage(chain)
    call_command("export_audit", "--draft", draft.pk, "--format", form, "--output", tmp_path / "file")
    assert kinds(verify("--export", tmp_path / "file"))[0] == (kind, chain, seq)


def test_the_last_row_taken_away_is_named(draft: Draft, verify: Verify) -> None:
    chain = f"draft:{draft.pk}"
    last = AuditChain.objects.get(key=chain).seq
    event(chain, last).delete()
    assert kinds(verify())[0] == ("cut tail", chain, last)


def test_an_event_of_no_chain_is_told(draft: Draft, verify: Verify) -> None:
    if connection.vendor == "postgresql":
        pytest.skip("a foreign key that holds cannot be broken there")
    row = event(f"draft:{draft.pk}", 3)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA defer_foreign_keys = ON")
        AuditEvent.objects.filter(pk=row.pk).update(chain=999)
        found = verify()
        AuditEvent.objects.filter(pk=row.pk).update(chain=row.chain)
    assert any("belong to no chain" in fault["problem"] for fault in found)


def test_faults_are_told_with_their_kind(draft: Draft, verify: Verify, capsys: pytest.CaptureFixture[str]) -> None:
    take_one_out(f"draft:{draft.pk}")
    with pytest.raises(Exception, match="faults; checked"):
        call_command("verify_audit")
    assert f"Chain draft:{draft.pk}: event 3 is missing" in capsys.readouterr().out


def test_json_counts_all_faults(draft: Draft, capsys: pytest.CaptureFixture[str]) -> None:
    take_one_out(f"draft:{draft.pk}")
    with pytest.raises(Exception, match="faults"):
        call_command("verify_audit", "--format", "json")
    told = json.loads(capsys.readouterr().out)
    assert told["faults"] == len(told["problems"])
