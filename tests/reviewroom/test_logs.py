"""Log lines for machines."""

import json
import logging
import sys

from reviewroom.logs import JsonFormatter


def line(**fields):
    record = logging.makeLogRecord(
        {"name": "approvals", "levelname": "INFO", "msg": "sent %s", "args": ("it",), **fields}
    )
    text = JsonFormatter().format(record)
    assert "\n" not in text
    return json.loads(text)


def test_a_record_is_one_line_of_json():
    written = line(msg="two\nlines", args=None)
    assert written["message"] == "two\nlines"
    assert written["at"].endswith("+00:00")


def test_what_the_caller_adds_is_in_it():
    assert line(delivery_id="d1")["delivery_id"] == "d1"


def test_an_exception_brings_its_traceback():
    try:
        raise LookupError("gone")
    except LookupError:
        assert "LookupError: gone" in line(exc_info=sys.exc_info())["exception"]


def test_a_request_is_left_out_because_it_holds_cookies():
    assert "request" not in line(request="<WSGIRequest>")
