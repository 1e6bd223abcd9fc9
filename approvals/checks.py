"""System checks of the app: the walls stand as the tables say."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DatabaseError, connections

from approvals.models import walls


@register(Tags.database)
def walls_stand(*, databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Gives an error per wall that is missing or foreign. Runs with `check --database default` and `migrate`."""
    return [Error(problem, id="approvals.E001") for alias in databases or () for problem in _problems(alias)]


def _problems(alias: str) -> list[str]:
    connection = connections[alias]
    try:
        if "approvals_installation" not in connection.introspection.table_names():
            return []
        return walls.problems(connection)
    except DatabaseError as error:
        return [f"The database cannot be asked about its walls: {error}"]
