"""`python -m bench.drain`: how fast the outbox drains, beside a loop that does nothing but POST; writes the page.

Every figure of a pair (raw loop, drain) is taken in the same run, one right after the other, against the same receiver
in a process of its own. Databases are on disk and wait for it at every commit, as in production.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench import drain_page

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "var" / "bench-drain.json"
CONNECTIONS = 32
LATENCIES = (0, 10)  # milliseconds
PROCESSES = (1, 4)


@dataclass(frozen=True, slots=True)
class Run:
    """What some processes did together. Events a second count from the first start to the last end."""

    per_second: float
    cpu_microseconds: float  # an event, of the posting processes
    peak_mb: float  # of the largest of them
    done: int


@dataclass(frozen=True, slots=True)
class Pair:
    """The raw loop and the drain, against the same receiver."""

    database: str
    latency: int
    processes: int
    raw: Run
    drain: Run

    @property
    def ratio(self) -> float:
        return self.drain.per_second / self.raw.per_second


def main() -> None:
    """Measures one database after the other; what was measured of others before stays on the page."""
    options = _options()
    for database in options.databases.split(","):
        with _database(database) as url:
            told = _child(["-m", "bench.drain", "--inside", database, *sys.argv[1:]], url)
        known = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        known[database] = {**told, "machine": drain_page.machine()}
        KEPT.write_text(json.dumps(known))
        drain_page.write(known, options.page)


def inside(database: str, options: argparse.Namespace) -> None:
    """Measures on one database; this process has its settings."""
    import django

    django.setup()
    from bench import drain_fill

    drain_fill.prepare()
    found: dict[str, list[Any]] = {"pairs": [], "memory": [], "selects": [], "revocations": _revocations(database)}
    for latency in LATENCIES:
        with _receiver(latency) as url:
            for processes in PROCESSES:
                found["pairs"].append(_pair(database, url, latency, processes, options))
    with _receiver(0) as url:
        found["selects"] += _behind(database, options.drained_rows)
        for rows in (10_000, options.memory_rows):
            found["memory"].append(_memory(database, url, rows, options.memory_drained))
        found["selects"] += _before(database)
    print(json.dumps(found), flush=True)


def _pair(database: str, url: str, latency: int, processes: int, options: argparse.Namespace) -> dict[str, Any]:
    """Takes both several times in turn, and the medians: a machine has moods."""
    from bench import drain_fill

    count = options.events if not latency else options.events // 2
    raws, drains = [], []
    for _ in range(options.rounds):
        raws.append(_together("raw", url, count, processes))
        drain_fill.fill(count)
        drains.append(_together("drain", url, count, processes))
        assert drains[-1].done == count, drains
    pair = Pair(database, latency, processes, _middle(raws), _middle(drains))
    _say(f"{database} {latency} ms {processes} process(es): {drain_page.row(pair)}")
    return drain_page.plain(pair)


def _memory(database: str, url: str, rows: int, some: int) -> dict[str, Any]:
    """Drains so many events of an outbox with `rows` undrained ones: what is in memory must not depend on the rest."""
    from bench import drain_fill

    drain_fill.empty()
    drain_fill.fill(rows, per_approval=10)
    count = min(rows, some)
    run = _together("some", url, count, 1)
    assert run.done == count, run
    _say(f"{database} {count} of {rows} undrained: {run.peak_mb:.0f} MB, {run.per_second:.0f}/s")
    return {"database": database, "rows": rows, "done": count, "peak_mb": run.peak_mb, "per_second": run.per_second}


def _revocations(database: str) -> list[dict[str, Any]]:
    """How long a revocation takes beside a drain whose sink answers, hangs, or is not there."""
    from bench import drain_revoke

    found = []
    with _receiver(0) as url:
        found.append(drain_revoke.measure(database, "answers", url))
    with _receiver(60_000) as url:
        found.append(drain_revoke.measure(database, "hangs", url))
    found.append(drain_revoke.measure(database, "is not there", url))
    for one in found:
        _say(f"{database} revocation, the sink {one['sink']}: {one['milliseconds']:.1f} ms")
    return found


def _behind(database: str, rows: int) -> list[dict[str, Any]]:
    """How long new events wait behind what is drained."""
    from bench import drain_fill, drain_selects

    drain_fill.fill(rows, drained=True, per_approval=10)
    drain_fill.fill(2)
    return [_said(drain_selects.one_new_event(database))]


def _before(database: str) -> list[dict[str, Any]]:
    """How long the look for the next events takes in front of all that is left undrained."""
    from approvals.selectors import outbox
    from bench import drain_selects

    left = f"{outbox.undrained().count():,}"
    found = [_said(drain_selects.measure(database, f"the first 200 of {left} undrained"))]
    drain_selects.park_all()
    return [*found, _said(drain_selects.measure(database, f"{left} undrained and none of them due"))]


def _said(one: dict[str, Any]) -> dict[str, Any]:
    _say(f"{one['database']} {one['what']}: {one['milliseconds']:.1f} ms")
    return one


def _middle(runs: list[Run]) -> Run:
    return Run(
        median(run.per_second for run in runs),
        median(run.cpu_microseconds for run in runs),
        max(run.peak_mb for run in runs),
        runs[-1].done,
    )


def _together(kind: str, url: str, count: int, processes: int) -> Run:
    """Starts processes, lets them go at once, and gives what they did."""
    share = str(count // processes)
    command = [sys.executable, "-m", "bench.drain_process", kind, url, share, str(CONNECTIONS)]
    children = [
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    told = [json.loads(child.communicate()[0]) for child in children]
    done = sum(one["done"] for one in told)
    seconds = max(one["ended"] for one in told) - min(one["began"] for one in told)
    cpu = sum(one["cpu"] for one in told) / max(done, 1) * 1e6
    return Run(done / seconds, cpu, max(one["peak_mb"] for one in told), done)


@contextmanager
def _receiver(milliseconds: int) -> Iterator[str]:
    command = [sys.executable, "-m", "bench.drain_receiver", str(milliseconds)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/events"
        process.terminate()


@contextmanager
def _database(name: str) -> Iterator[str]:
    """A database of its own on the disk a real one would be on, gone afterwards."""
    if name == "postgresql":
        from tests.support import postgres

        with postgres.server_on_disk() as url:
            subprocess.run(["createdb", "-h", url.partition("host=")[2], "-U", "postgres", "reviewroom"], check=True)
            yield url
        return
    base = ROOT / "var"
    base.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=base) as folder:
        yield f"sqlite:///{folder}/bench.sqlite3"


def _child(words: list[str], url: str) -> dict[str, Any]:
    wanted = {"REVIEWROOM_DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "reviewroom.settings"}
    environment = {**os.environ, **wanted, "REVIEWROOM_INSTANCE": "bench", "REVIEWROOM_LOG_FORMAT": "text"}
    done = subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory-rows", type=int, default=1_000_000)
    parser.add_argument("--drained-rows", type=int, default=100_000)
    parser.add_argument("--memory-drained", type=int, default=100_000)
    parser.add_argument("--databases", default="sqlite,postgresql")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "performance.md")
    parser.add_argument("--inside", default="")
    return parser.parse_args()


if __name__ == "__main__":
    chosen = _options()
    if chosen.inside:
        inside(chosen.inside, chosen)
    else:
        main()
