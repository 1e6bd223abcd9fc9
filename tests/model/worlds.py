"""The worlds that are explored: which channel, remote, clock and people each is about."""

from tests.model.record import World

EXCLUSIVE, APPEND = {"exclusive": True}, {"exclusive": False}

TIMELY = (
    World(**APPEND, remote="plain"),
    World(**APPEND, remote="dedupe"),
    World(**APPEND, remote="dedupe", readable=False),
    World(**APPEND, remote="plain", readable=False),
    World(**EXCLUSIVE, remote="upsert"),
    World(**EXCLUSIVE, remote="dedupe"),
    World(**EXCLUSIVE, remote="plain"),
    World(**EXCLUSIVE, remote="upsert", readable=False),
)
"""The clocks keep their promise and people say what is so: everything must hold."""

UNTIMELY = (
    World(**EXCLUSIVE, remote="dedupe", timely=False, drafts=1),
    World(**APPEND, remote="plain", timely=False, drafts=1),
    World(**APPEND, remote="dedupe", timely=False, drafts=1),
    World(**EXCLUSIVE, remote="upsert", timely=False, drafts=1),
)
"""A worker may sleep, and the network may hold a request back, for longer than the grace."""

CARELESS = (
    World(**APPEND, remote="plain", honest=False, retracts=False),
    World(**EXCLUSIVE, remote="upsert", honest=False, retracts=False),
    World(**EXCLUSIVE, remote="upsert", honest=False, drafts=1),
)
"""People record what they have not seen."""

WORLDS = (*TIMELY, *UNTIMELY, *CARELESS)
DUPLICATE = World(**APPEND, remote="plain", timely=False)
"""Where the shortest duplicate is looked for."""
OVERWRITING = World(**EXCLUSIVE, remote="upsert", timely=False, retracts=False)
"""Where the shortest way is looked for in which an earlier write replaces a later one."""
