"""Signs what others verify without trusting us: approval claims, heartbeats, export manifests.

Losing the key loses nothing but the proof of what it signed; `signing_keys` says how it is kept and changed.
"""

import copy
from collections.abc import Iterable
from typing import Any

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, OKPKey
from joserfc.jws import JWSRegistry

from approvals.services import signing_keys
from approvals.services.signing_keys import ALGORITHM, CURVE, create

__all__ = ["ALGORITHM", "CURVE", "create", "detached", "is_signed", "key", "public_keys", "sign"]


def key() -> OKPKey:
    """Gives the signing key, which is made on first use. Raises Unavailable if the file holds no such key."""
    return signing_keys.ring().signing


def public_keys() -> dict[str, Any]:
    """Gives the JWK set (RFC 7517) with which others verify what was signed here."""
    return {"keys": [signing_keys.public(published) for published in signing_keys.ring().published]}


def sign(claims: dict[str, Any], *, kind: str) -> str:
    """Gives the claims as a compact JWS whose `typ` is `kind`."""
    signing = key()
    return jwt.encode(_header(signing, kind), claims, signing, registry=_Registry(algorithms=[ALGORITHM]))


def detached(content: bytes, *, kind: str) -> str:
    """Gives a compact JWS over the content, with the content left out (RFC 7515, appendix F): `header..signature`."""
    signing = key()
    whole = jws.serialize_compact(_header(signing, kind), content, signing, registry=_Registry(algorithms=[ALGORITHM]))
    header, _, signature = whole.split(".")
    return f"{header}..{signature}"


def is_signed(signature: str, content: bytes, *, kind: str, keys: Iterable[OKPKey]) -> bool:
    """True if one of the keys made this detached signature over the content, as this kind of document."""
    known = KeySet(list(keys))
    try:
        whole = jws.deserialize_compact(signature, known, payload=content, registry=_Registry(algorithms=[ALGORITHM]))
    except (JoseError, ValueError, UnicodeError):
        return False
    return whole.protected.get("typ") == kind


class _Registry(JWSRegistry):
    """Knows EdDSA by the name that verifiers in use understand, without the warning that RFC 9864 has a newer one."""

    algorithms = {ALGORITHM: copy.copy(JWSRegistry.algorithms[ALGORITHM])}


_Registry.algorithms[ALGORITHM].security_warning = None


def _header(signing: OKPKey, kind: str) -> dict[str, str]:
    return {"alg": ALGORITHM, "typ": kind, "kid": signing_keys.kid(signing)}
