"""The notice board's connector does what every connector has to do."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Self

import pytest
from board import KEY, Board
from reviewroom_noticeboard import NoticeboardConnector

from approvals.connectors.base import Capability, Settings
from approvals.connectors.conformance import Behaviour, Conformance, Harness, Verb
from approvals.domain.errors import InvalidPayload


class BoardHarness(Harness):
    connector_class = NoticeboardConnector
    operation = "notice.post"
    correcting_operation = "notice.post"
    resource = "notices"
    declares = frozenset(Capability) - {Capability.CORRECT}

    def __enter__(self) -> Self:
        self.board = Board()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.board.__exit__(*exc_info)

    @property
    def settings(self) -> Settings:
        return Settings(
            "noticeboard",
            "hall",
            "BOARD",
            idempotent=True,
            concurrency="append",
            config={"base_url": self.board.url},
            operations={"notice.post": {}},
        )

    @property
    def environ(self) -> Mapping[str, str]:
        return {"REVIEWROOM_TARGET_SECRET_BOARD": KEY, "REVIEWROOM_TARGET_SECRET_BOARD_HOSTS": self.board.host}

    def payload(self, text: str) -> dict[str, Any]:
        return {"title": "Lift", "text": text}

    def behave(self, verb: Verb, behaviour: Behaviour) -> None:
        self.board.behave(verb, behaviour)

    def requests(self) -> int:
        return len(self.board.asked)

    def effects(self) -> int:
        return self.board.effects

    def change(self, remote_id: str) -> None:
        self.board.notices[int(remote_id)]["text"] = "Somebody else's"

    def remove(self, remote_id: str) -> None:
        del self.board.notices[int(remote_id)]

    def faults(self) -> Iterable[tuple[str, Settings]]:
        yield "no address", replace(self.settings, config={})
        yield "no secret", replace(self.settings, secret="")


class TestNoticeboard(Conformance):
    kind = BoardHarness


class HalfNotice(BoardHarness):
    def payload(self, text: str) -> dict[str, Any]:
        return {"title": text}


def test_half_a_notice_is_refused_at_the_door():
    with HalfNotice() as harness, pytest.raises(InvalidPayload):
        harness.job()
