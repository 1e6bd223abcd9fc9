"""Checks of settings that are each fine alone and wrong together. Every message holds the fix."""

import os
import re
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

TAG = "reviewroom"
PREFIX = "REVIEWROOM_TARGET_SECRET_"
HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")


@register(TAG)
def requests_open_no_transaction(**_: Any) -> list[CheckMessage]:
    """A request that is one transaction could record no refusal: it would be rolled back with the request."""
    wrong = [alias for alias, database in settings.DATABASES.items() if database.get("ATOMIC_REQUESTS")]
    return [
        Error(
            f"DATABASES[{alias!r}] has ATOMIC_REQUESTS on, but every verb opens its own transactions.",
            hint="Remove ATOMIC_REQUESTS, or set it to False.",
            id="reviewroom.E001",
        )
        for alias in wrong
    ]


@register(TAG)
def send_fits_in_its_lease(**_: Any) -> list[CheckMessage]:
    """A send must end well inside its lease, or another worker takes over while bytes are still leaving."""
    timeout, lease = settings.REVIEWROOM_SEND_TIMEOUT_SECONDS, settings.REVIEWROOM_LEASE_SECONDS
    if timeout < lease / 2:
        return []
    return [
        Error(
            f"REVIEWROOM_SEND_TIMEOUT_SECONDS is {timeout}, which is not less than half of "
            f"REVIEWROOM_LEASE_SECONDS ({lease}).",
            hint=f"Set REVIEWROOM_LEASE_SECONDS to {2 * timeout + 1} or more, or shorten the timeout.",
            id="reviewroom.E002",
        )
    ]


@register(TAG)
def absence_waits_for_late_requests(**_: Any) -> list[CheckMessage]:
    """Absence read too early would be no proof: the request might still be on its way."""
    least = settings.REVIEWROOM_LEASE_SECONDS + settings.REVIEWROOM_SEND_TIMEOUT_SECONDS
    if least <= settings.REVIEWROOM_ABSENT_GRACE_SECONDS:
        return []
    return [
        Error(
            f"REVIEWROOM_ABSENT_GRACE_SECONDS is {settings.REVIEWROOM_ABSENT_GRACE_SECONDS}, which is less than "
            f"the lease and the send timeout together ({least}).",
            hint=f"Set REVIEWROOM_ABSENT_GRACE_SECONDS to {least} or more.",
            id="reviewroom.E003",
        )
    ]


@register(TAG)
def secrets_are_bound_to_hosts(**_: Any) -> list[CheckMessage]:
    """A secret without hosts is never sent anywhere; better said now than at the first send."""
    return [*_secrets_without_hosts(), *_hosts_of_no_use()]


def _secrets_without_hosts() -> Iterator[CheckMessage]:
    for name, value in _secret_variables():
        if not name.endswith("_HOSTS") and value and not os.environ.get(f"{name}_HOSTS"):
            yield Error(
                f"{name} is set, but {name}_HOSTS is not, so this secret may be sent nowhere.",
                hint=f"Set {name}_HOSTS to the hosts that may receive it: host[:port], with commas.",
                id="reviewroom.E004",
            )


def _hosts_of_no_use() -> Iterator[CheckMessage]:
    for name, value in _secret_variables():
        wrong = [host for host in value.split(",") if not HOST.fullmatch(host.strip())]
        if name.endswith("_HOSTS") and wrong:
            yield Error(
                f"{name} lists {wrong[0]!r}, which is no host.",
                hint="Write host or host:port, with commas between them: no scheme, no path, no wildcard.",
                id="reviewroom.E005",
            )


def _secret_variables() -> list[tuple[str, str]]:
    return sorted((name, value) for name, value in os.environ.items() if name.startswith(PREFIX))
