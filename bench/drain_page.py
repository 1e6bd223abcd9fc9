"""Writes what `bench.drain` measured into the page about performance, between its marks."""

import os
import platform
import re
import sqlite3
import subprocess
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- drain: begin, written by `make bench-drain` -->", "<!-- drain: end -->"
HEAD = "| database | receiver | processes | raw loop /s | drain /s | ratio | raw CPU µs | drain CPU µs | peak MB |"
MEMORY = "| database | undrained when it began | drained of them | peak MB of the draining process | events/s |"
LOOKS = "| database | the look for the next events | ms |"
REVOKED = "| database | the sink of the drain beside it | a revocation takes, ms |"


def plain(pair: Any) -> dict[str, Any]:
    return {**asdict(pair), "ratio": pair.ratio}


def row(pair: Any) -> str:
    return _row(plain(pair))


def machine() -> dict[str, Any]:
    """Describes where it was measured, in words that name nobody."""
    model = re.search(r"model name\s*: (.*)", _read("/proc/cpuinfo"))
    memory = re.search(r"MemTotal:\s*(\d+)", _read("/proc/meminfo"))
    return {
        "cores": os.cpu_count(),
        "processor": model[1] if model else platform.machine(),
        "memory": f"{int(memory[1]) / 2**20:.0f} GB" if memory else "unknown",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "postgresql": _postgresql(),
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def write(results: dict[str, Any], page: Path) -> None:
    """Puts the tables between the marks; the words around them stay."""
    text = page.read_text() if page.exists() else f"# Performance\n\n{BEGIN}\n{END}\n"
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n{_tables(results)}\n{END}{after}")


def _tables(results: dict[str, Any]) -> str:
    """Gives the tables; `results` are by database, in the order of their names."""
    by_name = [results[name] for name in sorted(results, reverse=True)]

    def rows(kind: str, line: Callable[[dict[str, Any]], str]) -> list[str]:
        return [f"| {line(one)} |" for found in by_name for one in found[kind]]

    return "\n".join(
        [
            *("", _where(by_name[-1]["machine"]), ""),
            *(HEAD, _rule(HEAD), *rows("pairs", _row), ""),
            *(MEMORY, _rule(MEMORY), *rows("memory", _memory), ""),
            *(LOOKS, _rule(LOOKS), *rows("selects", lambda one: _timed(one, "what")), ""),
            *(REVOKED, _rule(REVOKED), *rows("revocations", lambda one: _timed(one, "sink")), ""),
        ]
    )


def _rule(head: str) -> str:
    return "|" + " --- |" * (head.count("|") - 1)


def _memory(one: dict[str, Any]) -> str:
    rate = f"{one['per_second']:,.0f}"
    return f"{one['database']} | {one['rows']:,} | {one['done']:,} | {one['peak_mb']:.0f} | {rate}"


def _timed(one: dict[str, Any], what: str) -> str:
    return f"{one['database']} | {one[what]} | {one['milliseconds']:,.1f}"


def _where(found: dict[str, Any]) -> str:
    return (
        f"Measured on {found['cores']} cores ({found['processor']}), {found['memory']} of memory, Python "
        f"{found['python']}, SQLite {found['sqlite']}, PostgreSQL {found['postgresql']}; load average when it began: "
        f"{found['load']}."
    )


def _row(pair: dict[str, Any]) -> str:
    raw, drain, ratio = pair["raw"], pair["drain"], pair["ratio"]
    receiver = "at once" if not pair["latency"] else f"after {pair['latency']} ms"
    return (
        f"{pair['database']} | {receiver} | {pair['processes']} | {raw['per_second']:,.0f} "
        f"| {drain['per_second']:,.0f} | {ratio:.2f} | {raw['cpu_microseconds']:.0f} "
        f"| {drain['cpu_microseconds']:.0f} | {drain['peak_mb']:.0f}"
    )


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _postgresql() -> str:
    from tests.support import postgres

    programs = postgres.find_programs()
    if programs is None:
        return "of a Python package"
    told = subprocess.run([programs / "postgres", "--version"], capture_output=True, text=True).stdout
    found = re.search(r"(\d[\d.]*)", told)
    return found[1] if found else "unknown"
