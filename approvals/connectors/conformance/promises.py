"""What a connector declares: capabilities it has, settings it refuses, secrets and addresses it keeps to."""

from collections.abc import Iterator
from dataclasses import asdict, replace

import pytest

from approvals.connectors.base import Capability, ConfigError, Connector, Outcome, Settings
from approvals.connectors.conformance.calls import ask, made, send
from approvals.connectors.conformance.harness import Harness
from approvals.domain import pointer as pointers

UNABLE = {
    Capability.LOOKUP: ("lookup", "sighting", ("unknown",)),
    Capability.VERIFY: ("verify", "match", ("impossible",)),
    Capability.RETRACT: ("retract", "outcome", (Outcome.REFUSED,)),
}


class Capabilities:
    """See the module."""

    def test_the_channel_can_do_what_it_is_said_to_do(self, harness: Harness) -> None:
        found = harness.connect().capabilities(harness.settings, harness.operation)
        assert found - {Capability.CORRECT} == harness.declares

    def test_what_is_not_declared_is_not_tried(self, harness: Harness) -> None:
        job = made(harness)
        before = harness.requests()
        for capability, (verb, word, allowed) in UNABLE.items():
            if capability not in harness.declares:
                assert getattr(ask(harness, verb, job), word) in allowed
        if not harness.reads:
            assert ask(harness, "read", job).known is False
        assert harness.requests() == before


class Configuration:
    """Settings are refused before they are saved, with a pointer to the place."""

    def test_the_settings_under_test_are_taken(self, harness: Harness) -> None:
        harness.connect().check(harness.settings)

    def test_bad_settings_are_refused_at_a_place_that_exists(self, harness: Harness) -> None:
        connector, taken = harness.connect(), []
        for name, settings in [*_faults(harness), *harness.faults()]:
            try:
                connector.check(settings)
                taken.append(name)
            except ConfigError as error:
                _check_pointer(error, settings)
        assert taken == []

    def test_checking_asks_nobody(self, harness: Harness) -> None:
        harness.connect().check(harness.settings)
        assert harness.requests() == 0

    def test_every_address_of_a_channel_is_listed_with_its_place(self, harness: Harness) -> None:
        listed = harness.connect().urls(harness.settings)
        document = asdict(harness.settings)
        assert listed
        assert [url for pointer, url in listed if not isinstance(pointers.resolve(document, pointer), str)] == []

    def test_a_private_address_is_refused_when_the_channel_is_saved(self, harness: Harness) -> None:
        with pytest.raises(ConfigError) as caught:
            harness.connect(allow_private=False).check(harness.settings)
        _check_pointer(caught.value, harness.settings)


class Guards:
    """What must not leave does not leave."""

    def test_nothing_is_sent_to_a_private_address(self, harness: Harness) -> None:
        self._stays_home(harness, harness.connect(allow_private=False))

    def test_nothing_is_sent_without_the_secret(self, harness: Harness) -> None:
        _needs_secret(harness)
        self._stays_home(harness, harness.connect(environ={}))

    def test_nothing_is_sent_to_a_host_the_secret_is_not_meant_for(self, harness: Harness) -> None:
        _needs_secret(harness)
        elsewhere = {
            key: "elsewhere.example" if key.endswith("_HOSTS") else value for key, value in harness.environ.items()
        }
        self._stays_home(harness, harness.connect(environ=elsewhere))

    @staticmethod
    def _stays_home(harness: Harness, connector: Connector) -> None:
        receipt = send(harness, harness.job(), connector=connector)
        assert (receipt.outcome, receipt.pause) == (Outcome.NOT_SENT, True), receipt.reason
        assert (harness.requests(), harness.effects()) == (0, 0)


def _faults(harness: Harness) -> Iterator[tuple[str, Settings]]:
    settings = harness.settings
    yield "no operation", replace(settings, operations={})
    yield "an unknown key in config", replace(settings, config={**settings.config, "no_such_key": 1})
    yield "a secret by value", replace(settings, secret="s3cret: not a name")  # noqa: S106 (that is the fault)
    operation = {**settings.operations[harness.operation], "no_such_key": 1}
    yield "an unknown key in an operation", replace(settings, operations={harness.operation: operation})
    operation = {**settings.operations[harness.operation], "schema": {"type": "nothing"}}
    yield "a payload schema that is none", replace(settings, operations={harness.operation: operation})


def _check_pointer(error: ConfigError, settings: Settings) -> None:
    pointers.resolve(asdict(settings), error.pointer)  # LookupError: it leads nowhere
    assert error.message.strip()


def _needs_secret(harness: Harness) -> None:
    if not harness.settings.secret:
        pytest.skip("the channel needs no secret")
