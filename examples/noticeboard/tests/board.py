"""A notice board on loopback: `python board.py 9000` serves one, and the conformance suite tells one what to do."""

import itertools
import sys
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

from approvals.connectors.conformance import Asked, Reply, StandIn, Verb

KEY = "board-key-that-shows-nowhere"


class Board(StandIn):
    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.notices: dict[int, dict[str, Any]] = {}
        self.effects = 0
        self._numbers = itertools.count(1)

    def verb_of(self, asked: Asked) -> Verb | None:
        if asked.method == "GET":
            return Verb.LOOKUP if "reference=" in asked.path else Verb.VERIFY
        return Verb.RETRACT if asked.method == "DELETE" else Verb.SEND

    def answer(self, asked: Asked) -> Reply:
        if asked.headers.get("x-board-key") != KEY:
            return self.refusal(401, "Who are you?")
        parts = urlsplit(asked.path)
        number = parts.path.removeprefix("/notices").strip("/")
        if asked.method == "POST":
            return self._post(dict(parse_qsl(asked.body.decode())))
        if not number:
            return self._search(parse_qs(parts.query)["reference"][0])
        return self._one(int(number), asked)

    def _post(self, form: dict[str, str]) -> Reply:
        for number, notice in self.notices.items():
            if notice["reference"] == form["reference"]:
                return Reply(200, {"notice": {"number": number}})
        number = next(self._numbers)
        self.effects += 1
        self.notices[number] = form
        return Reply(201, {"notice": {"number": number}})

    def _search(self, reference: str) -> Reply:
        found = [{"number": n, **notice} for n, notice in self.notices.items() if notice["reference"] == reference]
        return Reply(200, {"notices": found})

    def _one(self, number: int, asked: Asked) -> Reply:
        if number not in self.notices:
            return Reply(404, {"error": "no such notice"})
        if asked.method == "DELETE":
            del self.notices[number]
            return Reply(204)
        if asked.method == "PUT":
            self.effects += 1
            self.notices[number] = dict(parse_qsl(asked.body.decode()))
        return Reply(200, {"notice": {"number": number, **self.notices[number]}})


if __name__ == "__main__":
    with Board(int(sys.argv[1])) as board:
        print(f"A notice board at {board.url}; its key is {KEY}")
        while True:
            sys.stdin.readline()
            print(board.notices)
