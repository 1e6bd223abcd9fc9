"""Exports: what is selected, streamed, resumed to the byte, signed, harmless to spreadsheets, and itself audited."""

import csv
import io
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from approvals.models import AuditChain, AuditEvent, Draft
from approvals.services import chain_reading, export
from approvals.services.export_format import COLUMNS, harmless, plain
from tests.api.conftest import Api
from tests.audit.conftest import Verify, beat, kinds, public_keys
from tests.cast import Story

ROOM = "/v1/exports/audit?room=facilities"


@pytest.fixture
def api(story: Story) -> Api:
    return Api(story)


def body(answer: Any) -> bytes:
    assert answer.status_code == 200, answer.content
    return b"".join(answer.streaming_content)


def records(text: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def events(text: bytes) -> list[tuple[str, int]]:
    return [(line["chain"], line["seq"]) for line in records(text) if line["record"] == "event"]


def table(text: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.decode(), newline="")))


def first() -> int:
    """Gives the number of the first draft: PostgreSQL does not begin anew with each test."""
    return Draft.objects.order_by("id").values_list("pk", flat=True)[0]


def later(story: Story) -> None:
    """Lets a second go by: what happens at the very moment of an export is not in it."""
    story.clock.advance(seconds=1)


@pytest.fixture
def told(story: Story) -> Story:
    story.approved()
    story.propose(payload={"summary": "The door"})
    later(story)
    return story


# What is in it


def test_a_rooms_export_has_its_chain_and_those_of_its_drafts(told: Story, api: Api) -> None:
    found = events(body(api.get(ROOM, by="vic")))
    chains = AuditChain.objects.exclude(key="system")
    expected = [(chain.key, seq) for chain in chains for seq in range(1, chain.seq + 1)]
    assert sorted(found) == sorted(expected)


def test_a_drafts_export_has_its_chain_alone(told: Story, api: Api) -> None:
    found = events(body(api.get(f"/v1/exports/audit?draft={first()}", by="vic")))
    assert {chain for chain, _ in found} == {f"draft:{first()}"}
    assert len(found) == AuditChain.objects.get(key=f"draft:{first()}").seq


def test_a_body_is_the_very_text_that_was_hashed(told: Story, api: Api) -> None:
    for line in records(body(api.get(ROOM, by="vic"))):
        if line["record"] == "event":
            assert line["body"] == AuditEvent.objects.get(chain__key=line["chain"], seq=line["seq"]).body


def test_a_period_is_one_stretch_of_each_chain(story: Story, api: Api, verify: Verify, tmp_path: Path) -> None:
    draft = story.propose()
    since = story.clock.advance(minutes=1)
    story.decide(draft, "ben")
    until = story.clock.advance(minutes=1)
    story.decide(draft, "cleo")
    later(story)
    period = f"&since={since:%Y-%m-%dT%H:%M:%SZ}&until={until:%Y-%m-%dT%H:%M:%SZ}"
    text = body(api.get(ROOM + period, by="vic"))
    assert events(text) == [(f"draft:{draft.pk}", 4)]
    (tmp_path / "period").write_bytes(text)
    assert verify("--export", tmp_path / "period") == []


def test_times_that_do_not_rise_leave_no_hole_in_a_period(story: Story) -> None:
    draft = story.propose()
    late = story.clock.advance(minutes=10)
    story.decide(draft, "ben")
    story.clock.advance(minutes=-5)
    story.decide(draft, "cleo")
    period = chain_reading.Period(None, late)
    ((_, rows),) = chain_reading.with_events(chain_reading.chain_of_draft(draft.pk), period)
    assert [row.seq for row in rows] == list(range(1, AuditChain.objects.get(key=f"draft:{draft.pk}").seq + 1))


def test_long_chains_are_read_in_pieces(told: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_reading, "ROWS", 3)
    for head, rows in chain_reading.with_events(chain_reading.every_chain()):
        assert [row.seq for row in rows] == list(range(1, head.seq + 1))


# Who, and what is left behind


def test_strangers_get_404_and_the_room_that_is_not_there_the_same(told: Story, api: Api) -> None:
    answers = [
        api.get(f"/v1/exports/audit?{what}", by="dee") for what in ("room=facilities", "room=no", f"draft={first()}")
    ]
    assert [answer.status_code for answer in answers] == [404] * 3
    assert answers[0].json() == answers[1].json() == answers[2].json()


def test_a_token_needs_the_scope_introspect(told: Story, api: Api) -> None:
    assert [api.get(ROOM, by=who).status_code for who in ("ada", "ben", "max")] == [403] * 3


def test_a_superuser_is_a_stranger_too(told: Story, api: Api) -> None:
    told.user["dee"].is_superuser = True
    told.user["dee"].save()
    assert api.get(ROOM, by="dee").status_code == 404


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?room=facilities&format=xml",
        "?room=facilities&since=yesterday",
        "?room=facilities&since=2026-11-30T12:00:00",
        "?room=facilities&until=2999-01-01T00:00:00Z",
        "?room=facilities&cursor=draft",
        "?room=facilities&cursor=draft:1/999",
        "?room=facilities&rooms=all",
        "?room=facilities&draft=x",
    ],
)
def test_what_is_odd_is_refused_by_name(told: Story, api: Api, query: str) -> None:
    assert api.get(f"/v1/exports/audit{query}", by="vic").status_code == 422


def test_a_draft_of_another_room_is_not_there(told: Story, api: Api) -> None:
    assert api.get("/v1/exports/audit?room=facilities&draft=999", by="vic").status_code == 404


def test_an_export_is_in_the_history_before_it_leaves_and_when_it_is_whole(told: Story, api: Api) -> None:
    answer = api.get(ROOM, by="vic")
    found = AuditEvent.objects.filter(action__startswith="audit.export").order_by("id")
    assert [(event.action, event.actor, event.chain.key) for event in found] == [
        ("audit.export_began", "person:vic", "system")
    ]
    manifest = records(body(answer))[-1]
    done = json.loads(found.last().body)["details"]
    assert (found.last().action, done["digest"], done["room"]) == ("audit.exported", manifest["digest"], "facilities")


def test_a_refused_export_is_in_the_history_too(told: Story, api: Api) -> None:
    api.get(ROOM, by="dee")
    assert AuditEvent.objects.get(action="export.refused").actor == "person:dee"


# Streamed and resumed


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_download_goes_on_where_it_stopped_to_the_byte(told: Story, api: Api, form: str) -> None:
    until = f"{told.clock.now:%Y-%m-%dT%H:%M:%SZ}"
    query = f"{ROOM}&until={until}&format={form}"
    whole = body(api.get(query, by="vic"))
    lines = whole.splitlines(keepends=True)
    received = b"".join(lines[:6])
    last = table(received)[-1][:2] if form == "csv" else list(map(str, events(received)[-1]))
    rest = body(api.get(f"{query}&cursor={'/'.join(last)}", by="vic"))
    ending = -1 if form == "jsonl" else None  # the manifests differ in when they were made
    assert (received + rest).splitlines()[:ending] == whole.splitlines()[:ending]
    if form == "jsonl":
        digests = [records(text)[-1]["digest"] for text in (whole, rest)]
        assert digests[0] == digests[1]


def test_a_cursor_of_another_room_is_none(told: Story, api: Api) -> None:
    assert api.get(f"{ROOM}&cursor=system/1", by="vic").status_code == 422


def test_it_is_sent_in_pieces(told: Story, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "CHUNK", 1000)
    assert len(list(api.get(ROOM, by="vic").streaming_content)) > 5


# CSV


def test_a_csv_has_one_row_an_event_and_names_its_columns(told: Story, api: Api) -> None:
    rows = table(body(api.get(f"{ROOM}&format=csv", by="vic")))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) - 1 == len(events(body(api.get(ROOM, by="vic"))))


NASTY = ['=HYPERLINK("http://x","y")', "+1", "-1", "@x", 'a "quote"', "two\nlines", "\t=1", " =1", "\uff1d1", "| calc"]


def test_what_a_spreadsheet_would_run_is_shown_as_text(story: Story, api: Api) -> None:
    for reason in NASTY:
        draft = story.propose(payload={"summary": reason})
        api.post(f"/v1/drafts/{draft.pk}/withdraw", {"reason": reason}, by="ada")
    later(story)
    rows = table(body(api.get(f"{ROOM}&format=csv", by="vic")))
    assert len(rows) - 1 == len(events(body(api.get(ROOM, by="vic"))))
    cells = [cell for row in rows for cell in row]
    assert [cell for cell in cells if cell.lstrip()[:1] in tuple("=+-@|\uff1d") and cell.strip()] == []
    reasons = {plain(row[COLUMNS.index("reason")]) for row in rows}
    assert {reason.strip() for reason in NASTY} <= {reason.strip() for reason in reasons}


@pytest.mark.parametrize("text", [*NASTY, "plain", "'quoted", "", "'=1"])
def test_a_neutralised_cell_can_be_read_back(text: str) -> None:
    if text != "'=1":  # what began like that is the one thing that cannot be told apart
        assert plain(harmless(text)) == text
    assert not harmless(text).lstrip().startswith(("=", "+", "-", "@"))


# Verified by a stranger


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_whole_export_is_verified_with_public_keys_alone(
    told: Story, sink: Path, verify: Verify, tmp_path: Path, settings: Any, form: str
) -> None:
    beat(told, sink)
    call_command("export_audit", "--output", tmp_path / "all", "--format", form)
    keys = public_keys(tmp_path)
    settings.REVIEWROOM_SIGNING_KEY_FILE.unlink()
    assert verify("--export", tmp_path / "all", "--keys", keys, "--checkpoints", sink) == []


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_one_changed_character_is_noticed(told: Story, verify: Verify, tmp_path: Path, form: str) -> None:
    call_command("export_audit", "--draft", first(), "--output", tmp_path / "file", "--format", form)
    text = (tmp_path / "file").read_text()
    (tmp_path / "file").write_text(text.replace("person:ben", "person:eve", 1))
    assert [fault["kind"] for fault in verify("--export", tmp_path / "file")] == ["altered", "altered"]


def test_a_line_taken_away_is_named(told: Story, verify: Verify, tmp_path: Path) -> None:
    call_command("export_audit", "--draft", first(), "--output", tmp_path / "file")
    lines = (tmp_path / "file").read_text().splitlines(keepends=True)
    (tmp_path / "file").write_text("".join(lines[:2] + lines[3:]))
    assert ("missing", f"draft:{first()}", 2) in kinds(verify("--export", tmp_path / "file"))


def test_a_file_without_its_manifest_is_not_whole(told: Story, verify: Verify, tmp_path: Path) -> None:
    call_command("export_audit", "--draft", first(), "--output", tmp_path / "file")
    lines = (tmp_path / "file").read_text().splitlines(keepends=True)
    (tmp_path / "file").write_text("".join(lines[:-1]))
    assert [fault["kind"] for fault in verify("--export", tmp_path / "file")] == ["cut tail"]


def test_a_manifest_of_another_key_is_no_proof(told: Story, verify: Verify, tmp_path: Path, settings: Any) -> None:
    call_command("export_audit", "--draft", first(), "--output", tmp_path / "file")
    settings.REVIEWROOM_SIGNING_KEY_FILE = tmp_path / "another.json"
    keys = public_keys(tmp_path)
    found = [fault["problem"] for fault in verify("--export", tmp_path / "file", "--keys", keys)]
    assert found == ["The manifest is not signed with a key that is known here."]


def test_the_manifest_of_a_csv_is_asked_for_apart(told: Story, api: Api, verify: Verify, tmp_path: Path) -> None:
    until = f"{told.clock.now - timedelta(seconds=0):%Y-%m-%dT%H:%M:%SZ}"
    query = f"?room=facilities&until={until}"
    (tmp_path / "file").write_bytes(body(api.get(f"/v1/exports/audit{query}&format=csv", by="vic")))
    (tmp_path / "file.manifest.json").write_bytes(api.get(f"/v1/exports/audit/manifest{query}", by="vic").content)
    assert verify("--export", tmp_path / "file") == []


def test_an_export_older_than_the_sink_is_no_cut_tail(
    told: Story, sink: Path, verify: Verify, tmp_path: Path, api: Api
) -> None:
    (tmp_path / "file").write_bytes(body(api.get(ROOM, by="vic")))
    told.decide(told.again(told.propose()), "ben")
    beat(told, sink)
    assert verify("--export", tmp_path / "file", "--checkpoints", sink) == []


# The command


def test_a_file_that_is_there_is_not_written_over(told: Story, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CommandError, match="is there already"):
        call_command("export_audit", "--output", tmp_path / "file")


@pytest.mark.parametrize("what", [("--room", "no"), ("--draft", "999")])
def test_what_is_not_there_is_told(told: Story, tmp_path: Path, what: tuple[str, str]) -> None:
    with pytest.raises(CommandError):
        call_command("export_audit", *what, "--output", tmp_path / "file")
    assert not (tmp_path / "file").exists()
