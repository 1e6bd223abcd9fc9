"""The demo tracker itself."""

import subprocess
import sys
import urllib.request

from reviewroom.demo.tracker import Tracker
from tests.connectors.remote import Remote, reply


def test_a_second_start_on_another_port_keeps_the_data(tmp_path):
    with Tracker(tmp_path / "tracker") as first:
        secret = first.secret
    with Tracker(tmp_path / "tracker") as second:
        assert second.secret == secret
        assert second.issues() == []


def test_an_interrupted_making_is_made_again(tmp_path):
    (tmp_path / "tracker.partial").mkdir()
    with Tracker(tmp_path / "tracker") as tracker:
        assert tracker.issues() == []


def test_everybody_can_look_at_the_issues(tracker):
    with urllib.request.urlopen(f"{tracker.web_url}issue", timeout=10) as page:
        assert page.status == 200


def test_a_busy_port_is_said_with_its_remedy(tmp_path):
    with Remote(reply()) as busy:
        command = [sys.executable, "-m", "reviewroom.demo.tracker", str(tmp_path / "t"), "--port", str(busy.port)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=20)
    assert ended.returncode == 1
    assert f"port {busy.port}" in ended.stderr
    assert "--port" in ended.stderr
