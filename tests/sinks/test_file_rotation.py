"""The file sink over time: it steps aside when full or on a new day, and writes many events in one go."""

import asyncio
import os
import threading
from datetime import UTC, datetime
from uuid import UUID

import pytest

from approvals.connectors.base import Deadline
from approvals.connectors.outbound import Outbound
from approvals.sinks.base import Options, SinkError
from approvals.sinks.file import FileSink, Rotation, make

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "audit.jsonl"


def post(sink, *lines):
    async def all_at_once():
        async with sink:
            return await asyncio.gather(*(sink.post(UUID(int=0), line, Deadline(5)) for line in lines))

    return asyncio.run(all_at_once())


def files(path):
    return {file.name: file.read_bytes() for file in sorted(path.parent.iterdir())}


def test_a_full_file_steps_aside_and_is_never_touched_again(path):
    sink = FileSink(path, Rotation(bytes=8))
    for line in (b"111", b"222", b"333", b"444", b"555"):
        post(sink, line)
    assert files(path) == {
        "audit.jsonl": b"555\n",
        "audit.jsonl.000001": b"111\n222\n",
        "audit.jsonl.000002": b"333\n444\n",
    }


def test_a_line_larger_than_the_limit_gets_a_file_of_its_own(path):
    sink = FileSink(path, Rotation(bytes=2))
    post(sink, b"large")
    post(sink, b"larger")
    assert files(path) == {"audit.jsonl": b"larger\n", "audit.jsonl.000001": b"large\n"}


def test_on_a_new_day_yesterdays_file_steps_aside(path):
    sink = FileSink(path, Rotation(daily=True), lambda: NOON)
    post(sink, b"yesterday")
    os.utime(path, (NOON.timestamp() - 86400,) * 2)
    post(sink, b"today")
    os.utime(path, (NOON.timestamp(),) * 2)
    post(sink, b"later")
    assert files(path) == {"audit.jsonl": b"today\nlater\n", "audit.jsonl.000001": b"yesterday\n"}


def test_numbers_are_not_used_twice_when_old_files_were_taken_away(path):
    path.with_name("audit.jsonl.000007").write_bytes(b"old\n")
    sink = FileSink(path, Rotation(bytes=2))
    post(sink, b"1")
    post(sink, b"2")
    assert "audit.jsonl.000008" in files(path)


def test_parallel_writers_lose_nothing_when_the_file_steps_aside(path):
    lines = [f"{number:04d}".encode() for number in range(60)]
    threads = [
        threading.Thread(
            target=lambda part=lines[start::4]: [post(FileSink(path, Rotation(bytes=40)), x) for x in part]
        )
        for start in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(b"".join(files(path).values()).splitlines()) == lines


def test_many_events_at_once_share_a_flush(path, monkeypatch):
    flushed = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: flushed.append(1) or fsync(descriptor))
    answers = post(FileSink(path), *(f"{number}".encode() for number in range(50)))
    assert all(answer.ok for answer in answers)
    assert len(path.read_bytes().splitlines()) == 50
    assert len(flushed) < 10


def test_when_the_flush_fails_none_of_them_counts(path, monkeypatch):
    def fail(descriptor):
        raise OSError(5, "Input/output error")

    path.touch()
    monkeypatch.setattr(os, "fsync", fail)
    answers = post(FileSink(path), b"1", b"2")
    assert [answer.retry for answer in answers] == [True, True]


def test_nothing_is_written_after_the_time_to(path):
    answer = asyncio.run(FileSink(path).post(UUID(int=0), b"1", Deadline(5, send_by=0.0)))
    assert answer.retry
    assert not path.exists()


def options(**more):
    return Options(url="file:///tmp/audit.jsonl", outbound=Outbound(allow_private=False), **more)


@pytest.mark.parametrize(
    ("text", "rotation"),
    [
        ("", Rotation()),
        ("daily", Rotation(daily=True)),
        ("100MB", Rotation(bytes=10**8)),
        ("5000", Rotation(bytes=5000)),
    ],
)
def test_the_setting_says_when(text, rotation):
    assert make(options(rotate=text)).rotation == rotation


@pytest.mark.parametrize("more", [{"rotate": "weekly"}, {"rotate": "0"}, {"gzip": True}, {"signing_secret": "x"}])
def test_what_it_cannot_do_is_refused(more):
    with pytest.raises(SinkError):
        make(options(**more))
