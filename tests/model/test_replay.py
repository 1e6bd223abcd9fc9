"""Random paths of the model, replayed against the real services: `MODEL_PATHS=2000` for more, `MODEL_SEED` for one."""

import copy
import os
import random
import sys
import time

import pytest

from approvals.services import checks, outcomes
from tests.cast import CONFIG, Story
from tests.model.record import World
from tests.model.replay import OffPathError, Replay

PATHS = int(os.environ.get("MODEL_PATHS", "0"))
SEED = os.environ.get("MODEL_SEED")
SECONDS = 24  # for all kinds of channel together, where no number of paths is asked for
LENGTH = 45

LOOSE = {"timely": False, "honest": False}
KINDS = {
    "shelf": World(exclusive=False, remote="plain", **LOOSE),
    "stock": World(exclusive=False, remote="dedupe", **LOOSE),
    "mail": World(exclusive=False, remote="dedupe", readable=False, **LOOSE),
    "price": World(exclusive=True, remote="upsert", **LOOSE),
    "sign": World(exclusive=True, remote="plain", **LOOSE),
    "wall": World(exclusive=True, remote="plain", readable=False, **LOOSE),
}


@pytest.fixture
def gallery(story: Story) -> Story:
    """The cast with a channel per kind of remote; each path gets a target of its own."""
    document = copy.deepcopy(CONFIG)
    document["rooms"][0]["channels"] += [_channel(slug, world) for slug, world in KINDS.items()]
    story.configure(document)
    return story


def _channel(slug: str, world: World) -> dict:
    return {
        "slug": slug,
        "name": slug,
        "connector": "fake",
        "account": slug,
        "resource_pattern": "things/*",
        "concurrency": "exclusive" if world.exclusive else "append",
        "idempotent": world.idempotent,
        "config": {"capabilities": ["retract", *(["lookup", "verify"] if world.readable else [])]},
        "operations": {"thing.put": {}},
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_services_take_every_path_of_the_model(gallery: Story, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = int(SEED) if SEED else random.SystemRandom().randrange(10**6) * 1000
    wanted = 1 if SEED else PATHS or 10**9
    began, paths, steps = time.monotonic(), 0, 0
    while paths < wanted and (PATHS or SEED or time.monotonic() - began < SECONDS / len(KINDS)):
        for module in (outcomes, checks):  # their jitter, too, belongs to the path
            monkeypatch.setattr(module, "_random", random.Random(first + paths))
        replay = Replay(gallery, KINDS[kind], channel=kind, resource=f"things/{paths}", seed=first + paths)
        try:
            replay.walk(LENGTH)
        except Exception as error:
            told = "\n".join(replay.lines)
            raise OffPathError(f"{kind}, MODEL_SEED={first + paths}:\n{told}\n{error}") from error
        paths += 1
        steps += len(replay.lines)
    sys.stdout.write(f"{kind}: {paths} paths, {steps} steps, seeds from {first}\n")
