"""The file of signing keys: one that signs, older ones whose public half is still shown, retired ones kept to verify.

The file is a JWK set (RFC 7517) with one private Ed25519 key, the first. A new key puts the one before it into second
place without its private half, so that what it signed can still be verified; `retired` holds public keys that are
shown to nobody any more. A file with a single private JWK is read as a set of one. Nothing of it is in the database.
"""

import fcntl
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from django.conf import settings
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey

from approvals.domain.actor import Actor
from approvals.domain.errors import InvalidPayload, Unavailable
from approvals.permissions import Verb, require
from approvals.services import audit, door
from approvals.services.door import Clock

ALGORITHM = "EdDSA"
CURVE: Literal["Ed25519"] = "Ed25519"


@dataclass(frozen=True, slots=True)
class KeyRing:
    """What the file holds: `signing` with its private half, `former` and `retired` without."""

    signing: OKPKey
    former: tuple[OKPKey, ...] = ()
    retired: tuple[OKPKey, ...] = ()

    @property
    def published(self) -> tuple[OKPKey, ...]:
        """Gives the keys that others may expect signatures of."""
        return (self.signing, *self.former)

    @property
    def known(self) -> tuple[OKPKey, ...]:
        """Gives every key that ever signed here, as far as the file remembers."""
        return (*self.published, *self.retired)


def kid(key: OKPKey) -> str:
    return str(key.get("kid") or key.thumbprint())


def public(key: OKPKey) -> dict[str, Any]:
    """Gives a key's public half as a JWK that says what it is for."""
    return {**key.as_dict(private=False), "kid": kid(key), "use": "sig", "alg": ALGORITHM}


def ring() -> KeyRing:
    """Gives the keys of this installation; the first is made on first use. Raises Unavailable for a broken file."""
    file = path()
    if not file.exists():
        create(file)
    return read(file)


def path() -> Path:
    return Path(settings.REVIEWROOM_SIGNING_KEY_FILE)


def read(file: Path) -> KeyRing:
    """Gives what a file holds. Raises Unavailable, with the remedy."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        found = [OKPKey.import_key(item) for item in document.get("keys", [document])]
        retired = [OKPKey.import_key(item) for item in document.get("retired", [])]
        if [key.is_private for key in (*found, *retired)] != [True] + [False] * (len(found) + len(retired) - 1):
            raise ValueError("the first key, and only that, has a private half")
        if {key.curve_name for key in (*found, *retired)} != {CURVE}:
            raise ValueError("not of this curve")
    except (OSError, ValueError, TypeError, KeyError, AttributeError, JoseError) as exc:
        raise Unavailable(
            f"The signing key {file.name} cannot be read as an {CURVE} JWK with its private part, or a set of keys "
            "whose first is one. An operator has to restore it, or remove it so that a new one is made."
        ) from exc
    return KeyRing(found[0], tuple(found[1:]), tuple(retired))


def create(file: Path) -> bool:
    """Writes a first key that only its owner can read; False if a file stands there already, which then stays.

    The file appears whole or not at all: of two processes that start at once, both use the first one's key.
    """
    return _write(file, KeyRing(_generated()), replace=False)


def rotate(*, actor: Actor, clock: Clock) -> tuple[str, str | None]:
    """Makes a new key that signs from now on; the one before stays published. Gives the ids of both."""

    def change(old: KeyRing | None) -> KeyRing:
        if old is None:
            return KeyRing(_generated())
        return KeyRing(_generated(), (_without_private(old.signing), *old.former), old.retired)

    new, old = _changed(change, actor=actor, clock=clock, action="key.created")
    return kid(new.signing), kid(old.signing) if old else None


def retire(key_id: str, *, actor: Actor, clock: Clock) -> None:
    """Takes a former key out of what is published; it is kept, so that old signatures can be verified here."""

    def change(old: KeyRing | None) -> KeyRing:
        if old is None or key_id not in map(kid, old.former):
            is_signing = old is not None and key_id == kid(old.signing)
            why = "it signs now; make a new key first" if is_signing else "no such key is published"
            raise InvalidPayload(f"The key {key_id} cannot be retired: {why}.")
        gone = next(key for key in old.former if kid(key) == key_id)
        return KeyRing(old.signing, tuple(key for key in old.former if key is not gone), (gone, *old.retired))

    _changed(change, actor=actor, clock=clock, action="key.retired", key_id=key_id)


def _changed(
    change: Callable[[KeyRing | None], KeyRing], *, actor: Actor, clock: Clock, action: str, key_id: str = ""
) -> tuple[KeyRing, KeyRing | None]:
    """Changes the file as the last thing before the audit event that tells of it commits."""
    file = path()

    def body() -> tuple[KeyRing, KeyRing | None]:
        require(actor, Verb.CONFIGURE)
        old = read(file) if file.exists() else None
        new = change(old)
        details = {"key_id": key_id or kid(new.signing), "published": [kid(key) for key in new.published]}
        audit.append(chain=audit.SYSTEM_CHAIN, actor=actor, action=action, now=clock(), details=details)
        _write(file, new, replace=True)
        return new, old

    with _alone(file):
        return door.run(body, actor=actor, verb=Verb.CONFIGURE)


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Lets one process at a time change the file: of two rotations neither forgets the other's key."""
    file.parent.mkdir(parents=True, exist_ok=True)
    directory = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield
    finally:
        os.close(directory)


def _generated() -> OKPKey:
    return OKPKey.generate_key(CURVE, {"use": "sig", "alg": ALGORITHM}, auto_kid=True)


def _without_private(key: OKPKey) -> OKPKey:
    return OKPKey.import_key(public(key))


def _write(file: Path, keys: KeyRing, *, replace: bool) -> bool:
    """Puts a whole new file in place, on disk before it is seen; without `replace` only where none stands."""
    shown = [{**public(keys.signing), **keys.signing.as_dict(private=True)}, *map(public, keys.former)]
    document = {"keys": shown, "retired": [public(key) for key in keys.retired]}
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent)  # made with mode 600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(document, stream, indent=1)
            stream.flush()
            os.fsync(stream.fileno())
        (os.replace if replace else os.link)(name, file)
    except FileExistsError:
        return False
    finally:
        Path(name).unlink(missing_ok=True)
    return True
