"""`python -m tests.fire --times 20`: the tests with real processes, so many times in a row on both databases.

Prints a tally and ends with 1 if any run of any test failed.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from tests.support.repeat import TIMES

ROOT = Path(__file__).resolve().parent.parent.parent
WHAT = ("tests/fire", "tests/races/test_processes.py")
DATABASES = ("sqlite", "postgresql")


def main() -> int:
    given = arguments()
    failed = [run(database, given) for database in given.database or DATABASES]
    return 1 if any(failed) else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fire", description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=20, help="runs of every test (default: 20)")
    parser.add_argument("--processes", default="3", help="tests side by side; they wait more than they work")
    parser.add_argument("--database", action="append", choices=DATABASES, help="one database (default: both)")
    parser.add_argument("what", nargs="*", default=WHAT, help="files of tests (default: all with real processes)")
    return parser.parse_args()


def run(database: str, given: argparse.Namespace) -> bool:
    """Runs everything on one database and prints its tally; True if anything failed."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        repeat = ("-p", "tests.support.repeat", "-n", given.processes, "--database", database)
        command = [sys.executable, "-m", "pytest", "-q", "-rfE", *repeat, f"--junitxml={report}", *given.what]
        code = subprocess.run(command, cwd=ROOT, env={**os.environ, TIMES: str(given.times)}, check=False).returncode
        outcomes = tally(report)
    seconds = time.monotonic() - began
    tests = {name for name, _ in outcomes}
    total = Counter(outcome for _, outcome in outcomes.elements())
    words = ", ".join(f"{total[word]} {word}" for word in ("passed", "failed", "skipped"))
    print(f"fire on {database}: {len(tests)} tests x {given.times} runs: {words}, in {seconds / 60:.1f} minutes")  # noqa: T201
    for name, outcome in sorted(outcomes):
        if outcome == "failed":
            print(f"  failed {outcomes[name, outcome]} of {given.times}: {name}")  # noqa: T201
    return bool(code)


def tally(report: Path) -> Counter[tuple[str, str]]:
    """Counts, for each test, how many of its runs came out how."""
    cases = ElementTree.parse(report).iter("testcase") if report.exists() else ()
    return Counter((_without_run(case), _outcome(case)) for case in cases)


def _without_run(case: ElementTree.Element) -> str:
    name = re.sub(r"\brun\d+-|-?\brun\d+(?=\])", "", case.get("name", "")).removesuffix("[]")
    return f"{case.get('classname')}::{name}"


def _outcome(case: ElementTree.Element) -> str:
    kinds = {child.tag for child in case}
    return "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"


if __name__ == "__main__":
    sys.exit(main())
