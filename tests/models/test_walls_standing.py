"""Do the walls stand? Whoever asks is told which one is missing, disarmed or foreign, and migrate builds them anew."""

import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from django.db import connection

from approvals import checks
from approvals.models import Installation, walls
from approvals.models.walls import PREFIX
from tests.models.rows import run

NAMES = [wall.name for wall in walls.walls("sqlite")]
FOREIGN = {
    "sqlite": f"CREATE TRIGGER {PREFIX}_mine BEFORE INSERT ON approvals_room BEGIN SELECT 1; END",
    "postgresql": (
        f"CREATE TRIGGER {PREFIX}_mine BEFORE INSERT ON approvals_room FOR EACH ROW EXECUTE FUNCTION {PREFIX}('x');"
        f"ALTER TABLE approvals_room ENABLE ALWAYS TRIGGER {PREFIX}_mine"
    ),
}
JUMP = f"{PREFIX}_jump_draft"


@pytest.fixture(autouse=True)
def _in_a_transaction(db: None) -> None:
    """Walls taken down here stand again after the test: both databases roll back their DDL."""


def take_down(name: str) -> None:
    table = next(wall.table for wall in walls.walls(connection.vendor) if wall.name == name)
    run(f"DROP TRIGGER {name}" + (f" ON {table}" if connection.vendor == "postgresql" else ""))


def test_the_walls_stand_after_migrate():
    assert walls.problems(connection) == []


@pytest.mark.parametrize("name", [name for name in NAMES if "_replace_" not in name and "_take_" not in name])
def test_a_wall_that_is_gone_is_named(name):
    take_down(name)
    assert walls.problems(connection) == [f"The wall {name} is missing. Run manage.py migrate to build the walls anew."]


@pytest.mark.parametrize("how", ["DISABLE TRIGGER", "ENABLE TRIGGER", "ENABLE REPLICA TRIGGER"])
def test_a_wall_that_is_not_always_armed_is_as_good_as_gone(how, only_on_postgresql):
    run(f"ALTER TABLE approvals_draft {how} {JUMP}")
    assert [sentence for sentence in walls.problems(connection) if JUMP in sentence] != []


def test_a_foreign_wall_is_named():
    run(FOREIGN[connection.vendor])
    assert walls.problems(connection) == [
        f"The wall {PREFIX}_mine should not be there. Run manage.py migrate to build the walls anew."
    ]


def test_walls_made_from_other_tables_are_said_to_be():
    Installation.objects.update(walls_digest="0" * 64)
    assert "The walls were built from other tables." in " ".join(walls.problems(connection))


def test_a_database_that_never_noted_its_walls_is_said_to():
    Installation.objects.all().delete()
    assert "The walls were built from other tables." in " ".join(walls.problems(connection))


@pytest.mark.parametrize("harm", ["gone", "foreign", "digest"])
def test_migrate_builds_the_walls_anew(harm):
    if harm == "gone":
        walls.drop(connection)
    if harm == "foreign":
        run(FOREIGN[connection.vendor])
    if harm == "digest":
        Installation.objects.update(walls_digest="")
    call_command("migrate", verbosity=0)
    assert walls.problems(connection) == []


def test_building_the_walls_twice_is_building_them_once():
    walls.install(connection)
    walls.install(connection)
    assert walls.problems(connection) == []


def test_dropping_leaves_no_wall():
    walls.drop(connection)
    assert len([problem for problem in walls.problems(connection) if "is missing" in problem]) >= len(NAMES) // 2


def test_building_the_walls_keeps_the_name_of_the_installation():
    Installation.objects.update(instance_id="somewhere else")
    walls.install(connection)
    assert Installation.objects.get().instance_id == "somewhere else"


@pytest.mark.parametrize("vendor", ["sqlite", "postgresql"])
def test_a_digest_changes_with_the_walls(vendor, monkeypatch):
    wanted, digest = walls.walls(vendor), walls.digest(vendor)
    monkeypatch.setattr(walls, "walls", lambda _: wanted[1:])
    assert walls.digest.__wrapped__(vendor) != digest


@pytest.mark.parametrize("vendor", ["sqlite", "postgresql"])
def test_a_digest_is_the_same_each_time_it_is_made(vendor):
    assert walls.digest.__wrapped__(vendor) == walls.digest(vendor)


@pytest.mark.parametrize("vendor", ["sqlite", "postgresql"])
def test_every_wall_has_a_name_of_its_own_that_both_databases_can_hold(vendor):
    names = [wall.name for wall in walls.walls(vendor)]
    assert len(set(names)) == len(names)
    assert max(len(name) for name in names) < 64


def test_the_system_check_names_a_wall_that_is_gone():
    take_down(JUMP)
    found = [error for error in run_checks(databases=["default"]) if error.id == "approvals.E001"]
    assert [JUMP in error.msg for error in found] == [True]


def test_the_system_check_is_silent_while_the_walls_stand():
    assert checks.walls_stand(databases=["default"]) == []


def test_the_system_check_leaves_databases_alone_that_it_was_not_asked_about():
    walls.drop(connection)
    assert checks.walls_stand(databases=None) == []


def test_the_system_check_says_nothing_of_a_database_without_tables(monkeypatch):
    walls.drop(connection)
    monkeypatch.setattr(connection.introspection, "table_names", list)
    assert checks.walls_stand(databases=["default"]) == []
