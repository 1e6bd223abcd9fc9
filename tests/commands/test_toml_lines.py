import pytest

from approvals.management.toml_lines import line_of

TEXT = '''\
# a comment with [brackets] and "quotes
title = "x # no comment"
[[users]]
name = "ada"
[[users]]
name = 'ben'
[[rooms]]
slug = "facilities"
members = [{user = "ada", roles = ["proposer"]},  # she proposes
  {user = "ben",
   roles = ["reviewer", "boss"]}]
policy = {required_approvals = 2, "a.b" = """
[not.a.table]
""", nested.key = 3}
[[rooms.channels]]
slug = "one"
[[rooms.channels]]
slug = "two"
[rooms.channels.operations."ticket.create"]
schema = {type = "object"}
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("users", "1", "name"), 6),
        (("rooms", "0", "members", "1", "user"), 10),
        (("rooms", "0", "members", "1", "roles", "1"), 11),
        (("rooms", "0", "policy", "a.b"), 12),
        (("rooms", "0", "policy", "nested", "key"), 14),
        (("rooms", "0", "channels", "1", "slug"), 18),
        (("rooms", "0", "channels", "1", "operations", "ticket.create", "schema", "type"), 20),
    ],
)
def test_the_line_of_a_key(path, line):
    assert line_of(TEXT, path) == line


def test_a_missing_key_stands_at_what_should_hold_it():
    assert line_of(TEXT, ("rooms", "0", "channels", "1", "connector")) == 17


def test_nothing_known_is_the_first_line():
    assert line_of(TEXT, ()) == 1
