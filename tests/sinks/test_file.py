"""The file sink: a line for each event, on disk before it counts."""

import asyncio
import os
import threading
from uuid import UUID

import pytest

from approvals.connectors.base import Deadline
from approvals.sinks.file import FileSink

EVENT = UUID(int=7)
PAYLOAD = '{"b":1,"a":"é"}'.encode()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "audit.jsonl"


def post(sink, payload=PAYLOAD):
    return asyncio.run(sink.post(EVENT, payload, Deadline(5)))


def test_the_stored_bytes_and_a_line_end_are_written(path):
    assert post(FileSink(path)).ok
    assert path.read_bytes() == PAYLOAD + b"\n"


def test_events_are_appended(path):
    sink = FileSink(path)
    post(sink, b"1")
    post(sink, b"2")
    assert path.read_bytes() == b"1\n2\n"


def test_the_line_is_on_disk_before_it_counts(path, monkeypatch):
    flushed = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: flushed.append(os.fstat(descriptor).st_size))
    post(FileSink(path))
    assert len(PAYLOAD) + 1 in flushed


def test_a_line_cut_off_by_a_crash_does_not_spoil_the_next(path):
    path.write_bytes(b'{"half')
    post(FileSink(path))
    assert path.read_bytes().splitlines() == [b'{"half', PAYLOAD]


def test_a_write_that_fails_half_way_leaves_nothing(path, monkeypatch):
    path.write_bytes(b"1\n")
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, line: write(descriptor, line[:3]))
    assert post(FileSink(path)).retry
    assert path.read_bytes() == b"1\n"


def test_a_directory_that_is_not_there_is_tried_again(tmp_path):
    answer = post(FileSink(tmp_path / "missing" / "audit.jsonl"))
    assert (answer.ok, answer.retry) == (False, True)


def test_an_event_of_two_lines_is_parked(path):
    assert post(FileSink(path), b"{\n}").park
    assert not path.exists()


def test_strangers_cannot_read_the_file(path):
    post(FileSink(path))
    assert path.stat().st_mode & 0o077 == 0


def test_parallel_writers_keep_lines_whole(path):
    lines = [str(number).encode() * 3000 for number in range(10)]
    threads = [threading.Thread(target=post, args=(FileSink(path), line)) for line in lines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(path.read_bytes().splitlines()) == sorted(lines)
