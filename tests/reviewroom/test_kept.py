"""Values that are made once and kept."""

import stat

import pytest
from django.core.exceptions import ImproperlyConfigured

from reviewroom.kept import kept


def test_a_value_is_made_once(tmp_path):
    file = tmp_path / "deep" / "key"
    assert kept(file, lambda: "first", instead="X") == "first"
    assert kept(file, lambda: "second", instead="X") == "first"


def test_only_the_owner_may_read_it(tmp_path):
    kept(tmp_path / "key", lambda: "secret", instead="X")
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


def test_no_half_written_file_is_left(tmp_path):
    kept(tmp_path / "key", lambda: "secret", instead="X")
    assert [file.name for file in tmp_path.iterdir()] == ["key"]


def test_an_empty_file_is_named_with_the_setting_to_use_instead(tmp_path):
    (tmp_path / "key").touch()
    with pytest.raises(ImproperlyConfigured, match="set REVIEWROOM_KEY"):
        kept(tmp_path / "key", lambda: "x", instead="REVIEWROOM_KEY")


def test_a_folder_that_cannot_be_made_is_named_with_the_setting_to_use_instead(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ImproperlyConfigured, match="Set REVIEWROOM_KEY"):
        kept(tmp_path / "file" / "key", lambda: "x", instead="REVIEWROOM_KEY")
