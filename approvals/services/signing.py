"""The signing key of this installation: signs approval claims, and publishes its public half.

The key is one Ed25519 JWK in a file of its own, made on first use. Losing it loses nothing but the proof of claims
that are a minute old.
"""

import copy
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Literal

from django.conf import settings
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey
from joserfc.jws import JWSRegistry

from approvals.domain.errors import Unavailable

ALGORITHM = "EdDSA"
CURVE: Literal["Ed25519"] = "Ed25519"


def key() -> OKPKey:
    """Gives the signing key, which is made on first use. Raises Unavailable if the file holds no such key."""
    file = Path(settings.REVIEWROOM_SIGNING_KEY_FILE)
    try:
        if not file.exists():
            create(file)
        found = OKPKey.import_key(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError, JoseError) as exc:
        raise Unavailable(_broken(file)) from exc
    if found.curve_name != CURVE or not found.is_private:
        raise Unavailable(_broken(file))
    return found


def create(file: Path) -> bool:
    """Writes a new key that only its owner can read; False if a key stands there already, which then stays.

    The file appears whole or not at all: of two processes that start at once, both use the first one's key.
    """
    made = OKPKey.generate_key(CURVE, {"use": "sig", "alg": ALGORITHM}, auto_kid=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent)  # made with mode 600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(made.as_dict(private=True), stream)
        os.link(name, file)
    except FileExistsError:
        return False
    finally:
        Path(name).unlink()
    return True


def public_keys() -> dict[str, Any]:
    """Gives the JWK set (RFC 7517) with which others verify what was signed here."""
    signing = key()
    public = {**signing.as_dict(private=False), "kid": _kid(signing), "use": "sig", "alg": ALGORITHM}
    return {"keys": [public]}


def sign(claims: dict[str, Any], *, kind: str) -> str:
    """Gives the claims as a compact JWS whose `typ` is `kind`."""
    signing = key()
    header = {"alg": ALGORITHM, "typ": kind, "kid": _kid(signing)}
    return jwt.encode(header, claims, signing, registry=_Registry(algorithms=[ALGORITHM]))


class _Registry(JWSRegistry):
    """Knows EdDSA by the name that verifiers in use understand, without the warning that RFC 9864 has a newer one."""

    algorithms = {ALGORITHM: copy.copy(JWSRegistry.algorithms[ALGORITHM])}


_Registry.algorithms[ALGORITHM].security_warning = None


def _kid(signing: OKPKey) -> str:
    return str(signing.get("kid") or signing.thumbprint())


def _broken(file: Path) -> str:
    return (
        f"The signing key {file.name} cannot be read as an {CURVE} JWK with its private part. "
        "An operator has to restore it, or remove it so that a new one is made."
    )
