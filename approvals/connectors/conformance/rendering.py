"""Rendering: a pure function of binding, delivery id and settings, in every process alike."""

import json
import os
import subprocess
import sys
from copy import deepcopy
from dataclasses import asdict
from uuid import uuid4

from approvals.connectors.base import Job
from approvals.connectors.conformance.harness import Harness
from approvals.domain.binding import load

_RENDER = """
import json, sys
from importlib import import_module
from uuid import UUID
from approvals.connectors.base import Settings
from approvals.connectors.outbound import Outbound
from approvals.domain.binding import load
given = json.load(sys.stdin)
kind = getattr(import_module(given["module"]), given["name"])
connector = kind(Outbound(allow_private=True, environ={}))
binding = load(given["canonical"].encode())
request = connector.render(binding, UUID(given["delivery_id"]), Settings(**given["settings"]))
print(repr(request))
print(request.digest)
"""


class Rendering:
    """See the module."""

    def test_rendering_twice_gives_the_same_bytes(self, harness: Harness) -> None:
        job = harness.job()
        assert _again(harness, job) == job.request

    def test_rendering_from_stored_bytes_gives_the_same_bytes(self, harness: Harness) -> None:
        job = harness.job()
        stored = load(job.binding.canonical)
        assert harness.connect().render(stored, job.delivery_id, harness.settings) == job.request

    def test_another_process_renders_the_same_bytes(self, harness: Harness) -> None:
        job = harness.job()
        expected = f"{job.request!r}\n{job.request.digest}\n"
        assert [_elsewhere(harness, job, seed) for seed in ("0", "1")] == [expected, expected]

    def test_rendering_asks_nobody(self, harness: Harness) -> None:
        harness.job()
        assert harness.requests() == 0

    def test_rendering_needs_no_secret(self, harness: Harness) -> None:
        job = harness.job()
        assert harness.connect(environ={}).render(job.binding, job.delivery_id, harness.settings) == job.request

    def test_rendering_changes_neither_settings_nor_binding(self, harness: Harness) -> None:
        settings, binding = harness.settings, harness.job().binding
        before = deepcopy((settings, binding))
        harness.connect().render(binding, uuid4(), settings)
        assert (settings, binding) == before

    def test_another_payload_is_another_request(self, harness: Harness) -> None:
        one = harness.job("one")
        assert harness.job("two", delivery_id=one.delivery_id).request.digest != one.request.digest

    def test_a_rendered_request_holds_no_secret(self, harness: Harness) -> None:
        request = harness.job().request
        assert [marker for marker in harness.markers if marker in repr(request)] == []


def _again(harness: Harness, job: Job) -> object:
    return harness.connect().render(job.binding, job.delivery_id, harness.settings)


def _elsewhere(harness: Harness, job: Job, seed: str) -> str:
    kind = harness.connector_class
    given = {
        "module": kind.__module__,
        "name": kind.__name__,
        "canonical": job.binding.canonical.decode(),
        "delivery_id": str(job.delivery_id),
        "settings": asdict(harness.settings),
    }
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(  # noqa: S603 (our own words)
        [sys.executable, "-c", _RENDER],
        input=json.dumps(given),
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout or done.stderr
