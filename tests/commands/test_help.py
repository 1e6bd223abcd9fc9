"""`--help` is complete: every command says what it does, every argument what it means, and how it ends."""

import pkgutil

import pytest
from django.core.management import load_command_class
from django.core.management.base import BaseCommand, CommandParser

from approvals.management import commands

NAMES = sorted(module.name for module in pkgutil.iter_modules(commands.__path__))


class Plain(BaseCommand):
    """Has only what Django gives every command."""


def parser(name):
    return load_command_class("approvals", name).create_parser("manage.py", name)


def ends_in_more_ways_than_one(name):
    """True of workers, whose exit code says whether somebody is waited for, and of pauses, which cron may repeat."""
    return hasattr(load_command_class("approvals", name), "tell") or name.endswith("_channel")


def own(found):
    """Gives the arguments a command adds to those of every command."""
    common = {action.dest for action in Plain().create_parser("manage.py", "plain")._actions}
    return [action for action in found._actions if action.dest not in common]


@pytest.mark.parametrize("name", NAMES)
def test_a_command_says_what_it_does(name):
    found: CommandParser = parser(name)
    assert found.description is not None
    assert found.description.endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_every_argument_is_explained(name):
    assert [action.dest for action in own(parser(name)) if not action.help] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_help_can_be_printed(name, capsys):
    with pytest.raises(SystemExit) as ended:
        parser(name).parse_args(["--help"])
    printed = capsys.readouterr().out
    assert (
        ended.value.code,
        [action.help[:20] for action in own(parser(name)) if action.help[:20] not in printed],
    ) == (
        0,
        [],
    )


@pytest.mark.parametrize("name", [name for name in NAMES if ends_in_more_ways_than_one(name)])
def test_the_exit_codes_of_workers_and_pauses_are_told(name):
    assert "Exit codes: 0 done" in (parser(name).epilog or "")
