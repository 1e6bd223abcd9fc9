"""Nothing in the app goes round the doors: states, clock, walls and network are each touched in one place only.

Each rule is a way round, the parts of the app where it is forbidden, a sample it finds, and one it lets pass.
"""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
APP = ROOT / "approvals"
MODULES = {
    path.relative_to(APP).with_suffix("").as_posix(): list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    for path in sorted(APP.rglob("*.py"))
    if path.relative_to(APP).parts[0] != "migrations"
}
NETWORK = {"aiohttp", "requests", "httpx", "urllib3", "socket", "ssl", "smtplib", "http", "ftplib", "urllib.request"}
ASKS_THE_CLOCK = {"timezone.now", "datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time"}
SQL_CLOCK = re.compile(
    r"\b(now|clock_timestamp|statement_timestamp|strftime|datetime|julianday)\s*\(|\bCURRENT_TIME", re.IGNORECASE
)
SQL = re.compile(r"\s*(SELECT|WITH|UPDATE|INSERT|DELETE)\s")
SQL_WRITE = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE|TRUNCATE|DROP|ALTER|CREATE)\s", re.IGNORECASE)


def name_of(node: ast.AST) -> str:
    """Gives `a.b.c` of a name or attribute, as far as it can be read."""
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def keywords_of(call: ast.Call) -> set[str]:
    """Gives the names a call passes, also those inside a literal `**{...}`."""
    found = {keyword.arg for keyword in call.keywords if keyword.arg}
    for keyword in call.keywords:
        if keyword.arg is None and isinstance(keyword.value, ast.Dict):
            found |= {key.value for key in keyword.value.keys if isinstance(key, ast.Constant)}
    return found


def is_call(node: ast.AST, *methods: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods


def updates_a_state(node: ast.AST) -> bool:
    return is_call(node, "update", "update_or_create") and "state" in keywords_of(node)


def saves_a_state(node: ast.AST) -> bool:
    """`save(update_fields=[..., "state"])` and `bulk_update(rows, ["state"])`."""
    if not is_call(node, "save", "asave", "bulk_update", "abulk_update"):
        return False
    return any(isinstance(part, ast.Constant) and part.value == "state" for part in ast.walk(node))


def assigns_a_state(node: ast.AST) -> bool:
    """`row.state = ...`, `row.__dict__["state"] = ...`, `setattr(row, "state", ...)`."""
    if isinstance(node, ast.Call) and name_of(node.func) == "setattr":
        return isinstance(node.args[1], ast.Constant) and node.args[1].value == "state"
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    if not isinstance(node, ast.Assign | ast.AugAssign):
        return False
    return any(isinstance(target, ast.Attribute) and target.attr == "state" for target in targets) or any(
        isinstance(target, ast.Subscript) and name_of(target.value).endswith("__dict__") for target in targets
    )


def lifts_protection(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "protected"


def refreshes(node: ast.AST) -> bool:
    return is_call(node, "refresh_from_db", "arefresh_from_db")


def touches_the_walls(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and name_of(node) in {"walls.drop", "walls.install"}


def imports_the_walls_apart(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "approvals.models.walls"


def asks_another_clock(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and any(
        name_of(node.func) == clock or name_of(node.func).endswith(f".{clock}") for clock in ASKS_THE_CLOCK
    )


def lets_the_database_compare_with_its_own_clock(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom) and node.module == "django.db.models.functions":
        return any(alias.name == "Now" for alias in node.names)
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and SQL.match(node.value) is not None
        and SQL_CLOCK.search(node.value) is not None
    )


def writes_by_hand(node: ast.AST) -> bool:
    """Raw SQL that writes: it meets no method of a model."""
    if is_call(node, "execute", "executemany"):
        return any(isinstance(part, ast.Constant) and _is_write(part.value) for part in ast.walk(node))
    return False


def _is_write(value: object) -> bool:
    return isinstance(value, str) and SQL_WRITE.match(value) is not None


def imports_the_network(node: ast.AST) -> bool:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    if isinstance(node, ast.ImportFrom):
        names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return any(name == banned or name.startswith(f"{banned}.") for name in names for banned in NETWORK)


def waits_for_the_network(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and name_of(node.func) in {"asyncio.run", "async_to_sync", "sync_to_async"}


@dataclass(frozen=True)
class Rule:
    """`finds` is forbidden in `parts` (everywhere if empty), except in the modules of `but`, each for its reason."""

    finds: Callable[[ast.AST], bool]
    sample: str
    innocent: str
    parts: tuple[str, ...] = ()
    but: tuple[str, ...] = ()


RULES = [
    Rule(updates_a_state, 'Draft.objects.update(state="x")', "Draft.objects.update(seq=1)", but=("models/",)),
    Rule(updates_a_state, 'rows.update(**{"state": "x"})', 'rows.update(**{"seq": 1})', but=("models/",)),
    Rule(saves_a_state, 'row.save(update_fields=["state"])', 'row.save(update_fields=["seq"])', but=("models/",)),
    Rule(saves_a_state, 'rows.bulk_update(found, ["state"])', 'rows.bulk_update(found, ["seq"])', but=("models/",)),
    Rule(assigns_a_state, 'draft.state = "approved"', "draft.seq = 1"),
    Rule(assigns_a_state, 'draft.__dict__["state"] = "approved"', 'kept["state"] = "approved"'),
    Rule(assigns_a_state, 'setattr(draft, "state", "approved")', 'setattr(draft, "seq", 1)'),
    Rule(
        lifts_protection,
        'Draft._meta.get_field("state").protected = False',
        "FSMField(protected=True)",
        but=("services/signing",),  # the protected header of a JWS
    ),
    Rule(refreshes, "draft.refresh_from_db()", "Draft.objects.get(pk=1)"),
    Rule(touches_the_walls, "walls.drop(connection)", "walls.problems(connection)"),
    Rule(imports_the_walls_apart, "from approvals.models.walls import drop", "from approvals.models import walls"),
    Rule(
        asks_another_clock,
        "timezone.now()",
        "clock()",
        parts=("services/", "models/", "selectors/", "workers/", "domain/", "permissions", "sinks/"),
    ),
    Rule(
        asks_another_clock, "datetime.datetime.now(UTC)", "time.monotonic()", parts=("services/", "models/", "domain/")
    ),
    Rule(
        lets_the_database_compare_with_its_own_clock,
        "from django.db.models.functions import Now",
        "from django.db.models.functions import Lower",
        but=("models/clock",),
    ),
    Rule(
        lets_the_database_compare_with_its_own_clock,
        '"SELECT 1 FROM t WHERE expires_at > now()"',
        '"Until now (and then) we wait."',
        but=("models/clock",),
    ),
    Rule(
        writes_by_hand,
        'cursor.execute("UPDATE approvals_draft SET seq = 1")',
        'cursor.execute("SELECT 1")',
        but=("models/walls", "services/verify_sink"),  # the latter has a scratch database of its own
    ),
    Rule(
        imports_the_network, "import aiohttp", "import asyncio", parts=("services/", "models/", "selectors/", "domain/")
    ),
    Rule(
        imports_the_network,
        "from urllib import request",
        "from urllib.parse import urlsplit",
        parts=("services/", "models/", "selectors/", "domain/", "permissions"),
    ),
    Rule(
        waits_for_the_network,
        "asyncio.run(send())",
        "asyncio.Semaphore(4)",
        parts=("services/", "models/", "selectors/", "domain/"),
        but=("services/channel_names",),  # asks for names before any transaction is open
    ),
]
IDS = [f"{rule.finds.__name__}: {rule.sample}" for rule in RULES]


def ways_round(rule: Rule) -> Iterator[str]:
    for module, nodes in MODULES.items():
        if module.startswith(rule.parts or ("",)) and not module.startswith(rule.but or ("/",)):
            lines = sorted({getattr(node, "lineno", 0) for node in nodes if rule.finds(node)})
            yield from (f"approvals/{module}.py:{line}" for line in lines)


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_nothing_goes_round_a_door(rule):
    assert list(ways_round(rule)) == []


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_a_rule_finds_its_sample(rule):
    assert any(rule.finds(node) for node in ast.walk(ast.parse(rule.sample)))


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_a_rule_lets_the_innocent_pass(rule):
    assert not any(rule.finds(node) for node in ast.walk(ast.parse(rule.innocent)))


@pytest.mark.parametrize("part", sorted({part for rule in RULES for part in (*rule.parts, *rule.but)}))
def test_a_rule_names_parts_that_are_there(part):
    assert any(module.startswith(part) for module in MODULES)


def test_the_names_of_a_channel_are_asked_for_outside_of_transactions():
    """The one service that waits for a network, so it may be called by no body of a door."""
    callers = [
        module
        for module, nodes in MODULES.items()
        for node in nodes
        if isinstance(node, ast.Call) and name_of(node.func).endswith("check_names") and module.startswith("services/")
    ]
    assert set(callers) <= {"services/channel_names"}
