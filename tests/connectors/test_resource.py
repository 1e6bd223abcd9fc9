"""Resource patterns: a `*` is one segment, and two channels must not name one resource."""

import pytest

from approvals.domain.resource import matches, overlap


@pytest.mark.parametrize(
    ("pattern", "resource"),
    [
        ("issue", "issue"),
        ("locations/*/reviews/*", "locations/12/reviews/ab"),
        ("*", "issue"),
        ("rooms/*", "rooms/4 b"),
        ("rooms/*", "rooms/..."),
    ],
)
def test_a_pattern_names_its_resources(pattern, resource):
    assert matches(pattern, resource)


@pytest.mark.parametrize(
    ("pattern", "resource"),
    [
        ("issue", "issues"),
        ("issue", "Issue"),
        ("rooms/*", "rooms/"),
        ("rooms/*", "rooms"),
        ("rooms/*", "rooms/a/b"),
        ("rooms/*", "rooms/."),
        ("rooms/*", "rooms/.."),
        ("rooms/..", "rooms/.."),
        ("rooms/*", "rooms/a\n"),
        ("rooms/*", "rooms/\x7f"),
        ("rooms/*", "rooms/*"),
        ("rooms/*", "/rooms/a"),
        ("rooms/a*", "rooms/ab"),
        ("*", ""),
        ("", ""),
    ],
)
def test_a_pattern_names_nothing_else(pattern, resource):
    assert not matches(pattern, resource)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("issue", "issue"),
        ("*", "issue"),
        ("locations/*/reviews/7", "locations/3/reviews/*"),
        ("a/*", "*/b"),
    ],
)
def test_two_that_can_name_one_resource_overlap(a, b):
    assert overlap(a, b)
    assert overlap(b, a)


@pytest.mark.parametrize(("a", "b"), [("issue", "msg"), ("a/*", "b/*"), ("a/*", "a"), ("a/*", "a/*/c"), ("a", "a/")])
def test_two_that_cannot_do_not_overlap(a, b):
    assert not overlap(a, b)
    assert not overlap(b, a)
