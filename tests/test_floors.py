"""Imports point downwards, and nothing goes round the doors that hold the rules."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
APP = ROOT / "approvals"

FLOORS = {
    "domain": 0,
    "models": 1,
    "migrations": 1,
    "permissions": 2,
    "selectors": 2,
    "connectors": 2,
    "sinks": 2,
    "services": 3,
    "workers": 4,
    "api": 5,
    "web": 5,
    "admin": 5,
    "management": 5,
    "templatetags": 5,
    "urls": 6,
}
ON_NO_FLOOR = {"__init__", "apps", "checks"}  # wiring: loaded by Django, imported by nobody
BANNED_NAMES = {"utils", "helpers", "manager", "managers", "misc", "common"}
DOMAIN_MAY_NOT = {"django", "aiohttp", "approvals.models", "datetime.now", "time", "os", "socket"}

MODULES = sorted(path for path in APP.rglob("*.py") if path.name != "__pycache__")


def floor(dotted: str) -> int | None:
    """The floor of `approvals.<part>...`; None for the package itself and its wiring."""
    parts = dotted.split(".")
    return FLOORS.get(parts[1]) if len(parts) > 1 else None


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every module that this one imports, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            base = _absolute(path, node)
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def _absolute(path: Path, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = dotted(path).removesuffix(".__init__").split(".")
    kept = package[: len(package) - node.level + (path.name == "__init__.py")]
    return ".".join([*kept, *([node.module] if node.module else [])])


def test_every_part_of_the_app_is_on_a_floor():
    parts = {path.relative_to(APP).parts[0].removesuffix(".py") for path in MODULES}
    assert parts - set(FLOORS) - ON_NO_FLOOR == set()


def test_imports_point_downwards():
    wrong = []
    for path in MODULES:
        here = floor(dotted(path))
        for line, name in imports(path):
            there = floor(name) if name.startswith("approvals.") else None
            if here is not None and there is not None and there > here:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}, a floor above")
    assert wrong == []


def test_the_domain_is_plain_python():
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in MODULES
        for line, name in imports(path)
        if dotted(path).startswith("approvals.domain.")
        and any(name == banned or name.startswith(f"{banned}.") for banned in DOMAIN_MAY_NOT)
    ]
    assert wrong == []


def test_migrations_stand_on_their_own():
    """A table of today in a migration of yesterday would change what that migration did."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in MODULES
        for line, name in imports(path)
        if path.parent.name == "migrations" and name.startswith("approvals.domain")
    ]
    assert wrong == []


def test_the_app_does_not_know_the_project_around_it():
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in MODULES
        for line, name in imports(path)
        if name.startswith("reviewroom") and (floor(dotted(path)) or 0) < FLOORS["management"]
    ]
    assert wrong == []


@pytest.mark.parametrize("pattern", [r"\.update\(\s*state\s*=", r"\.save\(update_fields=\[[^]]*['\"]state['\"]"])
def test_states_change_only_inside_models(pattern):
    wrong = [
        str(path.relative_to(ROOT))
        for path in MODULES
        if not dotted(path).startswith("approvals.models.") and re.search(pattern, path.read_text(encoding="utf-8"))
    ]
    assert wrong == []


def test_no_module_is_a_box_for_everything():
    assert [path for path in MODULES if path.stem in BANNED_NAMES or path.parent.name in BANNED_NAMES] == []
