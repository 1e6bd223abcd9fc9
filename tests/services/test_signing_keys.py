"""Signing keys: one file, one private key in it, and whatever was published can still be verified."""

import base64
import json
import stat
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from joserfc.jwk import OKPKey

from approvals.domain.actor import system
from approvals.domain.errors import InvalidPayload, Unavailable
from approvals.models import AuditEvent
from approvals.services import signing, signing_keys
from tests.cast import NOON

pytestmark = pytest.mark.django_db
OPERATOR = system("create_signing_key", via="command")
KIND = "heartbeat"


@pytest.fixture
def file(settings: Any, tmp_path: Path) -> Path:
    settings.REVIEWROOM_SIGNING_KEY_FILE = tmp_path / "keys" / "signing-key.json"
    return settings.REVIEWROOM_SIGNING_KEY_FILE


def rotate() -> tuple[str, str | None]:
    return signing_keys.rotate(actor=OPERATOR, clock=lambda: NOON)


def retire(key_id: str) -> None:
    signing_keys.retire(key_id, actor=OPERATOR, clock=lambda: NOON)


def published() -> list[str]:
    return [key["kid"] for key in signing.public_keys()["keys"]]


def test_the_first_key_is_made_on_first_use_for_its_owner_only(file: Path) -> None:
    assert published() == [signing_keys.kid(signing.key())]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_new_key_signs_and_the_old_one_stays_published(file: Path) -> None:
    first = published()[0]
    new, old = rotate()
    assert (published(), old) == ([new, first], first)
    assert signing_keys.kid(signing.key()) == new
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_what_the_old_key_signed_is_verified_after_a_rotation(file: Path) -> None:
    signature = signing.detached(b"content", kind=KIND)
    rotate()
    assert signing.is_signed(signature, b"content", kind=KIND, keys=signing_keys.ring().published)


def test_a_retired_key_is_published_no_more_but_still_verifies_here(file: Path) -> None:
    signature = signing.detached(b"content", kind=KIND)
    new, old = rotate()
    retire(str(old))
    assert published() == [new]
    assert signing.is_signed(signature, b"content", kind=KIND, keys=signing_keys.ring().known)


def test_the_key_that_signs_is_not_retired(file: Path) -> None:
    with pytest.raises(InvalidPayload, match="it signs now"):
        retire(published()[0])


def test_a_key_that_is_not_there_is_not_retired(file: Path) -> None:
    with pytest.raises(InvalidPayload, match="no such key"):
        retire("another")


@pytest.mark.parametrize(
    ("content", "kind"), [(b"contents", KIND), (b"content", "another-kind")], ids=["content", "kind"]
)
def test_a_signature_holds_for_its_content_and_kind_only(file: Path, content: bytes, kind: str) -> None:
    signature = signing.detached(b"content", kind=KIND)
    assert not signing.is_signed(signature, content, kind=kind, keys=signing_keys.ring().known)


@pytest.mark.parametrize("signature", ["", "..", "a.b.c", "e30..AAAA", "é..x"])
def test_what_is_no_signature_is_not_one(file: Path, signature: str) -> None:
    assert not signing.is_signed(signature, b"content", kind=KIND, keys=signing_keys.ring().known)


def test_another_installations_signature_is_not_ours(file: Path, settings: Any, tmp_path: Path) -> None:
    signature = signing.detached(b"content", kind=KIND)
    settings.REVIEWROOM_SIGNING_KEY_FILE = tmp_path / "another.json"
    assert not signing.is_signed(signature, b"content", kind=KIND, keys=signing_keys.ring().known)


def test_a_file_with_a_single_key_is_still_read(file: Path) -> None:
    key = OKPKey.generate_key("Ed25519", auto_kid=True)
    file.parent.mkdir()
    file.write_text(json.dumps(key.as_dict(private=True)))
    assert published() == [key.kid]
    rotate()
    assert key.kid in published()


def test_a_set_with_two_private_keys_is_refused(file: Path) -> None:
    keys = [OKPKey.generate_key("Ed25519", auto_kid=True).as_dict(private=True) for _ in range(2)]
    file.parent.mkdir()
    file.write_text(json.dumps({"keys": keys}))
    with pytest.raises(Unavailable):
        signing.key()


def test_a_file_that_cannot_be_read_is_not_replaced_by_a_new_key(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("{")
    with pytest.raises(Unavailable):
        rotate()
    assert file.read_text() == "{"


def test_making_and_retiring_are_in_the_history(file: Path) -> None:
    rotate()
    new, old = rotate()
    retire(str(old))
    events = AuditEvent.objects.filter(action__startswith="key.").order_by("seq")
    told = [(event.action, json.loads(event.body)["details"]["key_id"]) for event in events]
    assert told[1:] == [("key.created", new), ("key.retired", old)]


def test_nothing_secret_is_in_the_database(file: Path) -> None:
    rotate()
    rotate()
    secret = json.loads(file.read_text())["keys"][0]["d"]
    raw = base64.urlsafe_b64decode(secret + "=")
    for model in apps.get_app_config("approvals").get_models():
        for row in model._default_manager.values():
            assert not [value for value in row.values() if secret in str(value) or value == raw], model


def test_private_halves_are_shown_to_nobody_and_old_ones_are_gone(file: Path) -> None:
    rotate()
    rotate()
    assert [sorted(key) for key in signing.public_keys()["keys"]] == [["alg", "crv", "kid", "kty", "use", "x"]] * 2
    assert file.read_text().count('"d"') == 1
