"""`make demo`: the whole story in one terminal, against a real tracker and a real web server, on a database of its own.

An agent proposes tickets by HTTP, two people decide, an edit after approval voids it, the dispatcher writes, the
reconciler reads back, one ticket is taken back, the outbox is drained to a file, and in the end everything is verified.
"""

import itertools
import json
import sys
import time
from collections import Counter
from io import StringIO
from typing import Any

from django.core.management import CommandError, call_command

from reviewroom.demo.api import Answer, Caller
from reviewroom.demo.stage import Stage, stage

Draft = dict[str, Any]
_numbers = itertools.count(1)

LIFT = {
    "room": "Lift 2",
    "category": "electrical",
    "summary": "Lift 2 is stuck on floor 3",
    "details": "Nobody is inside. The display shows E-17 since 08:40.",
}
RADIATOR = {"room": "Room 2.14", "category": "heating", "summary": "The radiator under the window stays cold"}


GONE_SECONDS = 60
"""How long the story waits for a read-back, beyond which something is wrong."""


class Unexpected(Exception):
    """The story took a turn it must not take."""


def main() -> int:
    """Tells the story; gives the exit code."""
    print("Starting a tracker, a database and a web server of its own; this takes a few seconds.")
    try:
        with stage() as place:
            tell(place)
    except (Unexpected, CommandError) as exc:
        print(f"\nThe story broke off: {exc}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 130
    print("\nThe end. Nothing of this is kept; `make run` starts one that is.")
    return 0


def tell(place: Stage) -> None:
    print(f"  web      {place.web_url}\n  tracker  {place.tracker.web_url}")
    bot, ben, cleo = (place.callers[name] for name in ("reply-bot", "ben", "cleo"))
    lift, radiator = _propose(bot)
    _approve(lift, radiator, ben, cleo)
    edited = _edit(bot.get(f"/v1/drafts/{lift['id']}").body, bot, cleo)
    _step("Both look at the new bytes and approve them")
    for person in (ben, cleo):
        _expect(person.decide(edited), 200)
    drafts = [_show(bot, draft) for draft in (lift, radiator)]
    _send(place, bot, drafts)
    _retract(place, ben, drafts[1])
    _sink(place)
    _step("Everything the database remembers is checked against itself")
    call_command("verify_audit")


def _propose(bot: Caller) -> tuple[Draft, Draft]:
    _step("reply-bot proposes two tickets by HTTP, for ada")
    proposals = [_proposal("Report the lift", LIFT), _proposal("Report the radiator", RADIATOR)]
    drafts = [_expect(bot.post("/v1/drafts", proposal), 201) for proposal in proposals]
    for draft in drafts:
        _line(draft)
    _step("It loses the answer and asks again with the same Idempotency-Key")
    first = _expect(bot.post("/v1/drafts", _proposal("Lost answer", RADIATOR), Idempotency_Key="radiator-1"), 201)
    again = _expect(bot.post("/v1/drafts", _proposal("Lost answer", RADIATOR), Idempotency_Key="radiator-1"), 201)
    print(f"  the answer is the same draft: {first['reference']} = {again['reference']}")
    withdrawn = _expect(bot.post(f"/v1/drafts/{first['id']}/withdraw", {"reason": "Proposed twice."}), 200)
    _line(withdrawn)
    return drafts[0], drafts[1]


def _approve(lift: Draft, radiator: Draft, ben: Caller, cleo: Caller) -> None:
    _step("Two have to agree, one of them from Legal: first cleo, then ben (Legal)")
    for draft in (lift, radiator):
        _expect(cleo.decide(draft), 200)
        _show(cleo, draft)
        _expect(ben.decide(draft), 200)
        _show(ben, draft)


def _edit(lift: Draft, bot: Caller, cleo: Caller) -> Draft:
    _step("After the approval, reply-bot changes one detail: the approval covers the new bytes no more")
    changed = {"payload": LIFT | {"details": "A person is inside. The display shows E-17 since 08:40."}}
    path = f"/v1/drafts/{lift['id']}"
    edited = _expect(bot.put(path, changed, If_Match=f'"{lift["version"]}"'), 200)
    _line(edited)
    _step("cleo still has the old page open, has second thoughts and presses Reject there")
    refused = _expect(cleo.decide(lift, "reject"), 409)
    print(f"  409 {refused['code']}: {refused['detail']}")
    print(f"  current is version {refused['current']['version']}, {refused['current']['digest']}")
    return edited


def _send(place: Stage, bot: Caller, drafts: list[Draft]) -> None:
    _step("The dispatcher writes what is approved, once")
    call_command("dispatch_approved")
    for draft in drafts:
        _show(bot, draft)
    _step("The reconciler reads the tickets back and compares them with what was approved")
    call_command("reconcile_deliveries")
    for draft in drafts:
        if _show(bot, draft)["state"] != "confirmed":
            raise Unexpected(f"{draft['reference']} was not confirmed. Look: manage.py explain {draft['reference']}")
    _step("What stands in the tracker")
    for issue in place.tracker.issues():
        print(f"  issue{issue['id']}  {issue['title']}  (delivery {issue['reviewroom_id']})")
    if len(place.tracker.issues()) != len(drafts):
        raise Unexpected("The tracker does not hold exactly one ticket for each approved draft.")


def _retract(place: Stage, ben: Caller, draft: Draft) -> None:
    _step("The radiator is warm after all: ben takes its ticket back, and says why")
    reason = {"reason": "The valve was closed; nothing is broken."}
    _line(_expect(ben.post(f"/v1/drafts/{draft['id']}/retract", reason), 200))
    call_command("dispatch_approved")
    _show(ben, draft)
    _step("The tracker said yes. That is no proof: it is read back once no request can be on its way any more")
    deadline = time.monotonic() + GONE_SECONDS
    while _expect(ben.get(f"/v1/drafts/{draft['id']}"), 200)["state"] == "retracting":
        if time.monotonic() > deadline:
            raise Unexpected(f"{draft['reference']} was not read back. Look: manage.py explain {draft['reference']}")
        time.sleep(0.5)
        call_command("reconcile_deliveries", stdout=StringIO())
    if _show(ben, draft)["state"] != "retracted":
        raise Unexpected(f"{draft['reference']} is still there. Look: manage.py explain {draft['reference']}")
    print(f"  in the tracker: {', '.join(issue['title'] for issue in place.tracker.issues())}")


def _sink(place: Stage) -> None:
    _step("The outbox is drained to the audit sink, a file")
    call_command("drain_outbox")
    events = [json.loads(line) for line in place.sink.read_text().splitlines()]
    for name, number in Counter(event["action"] for event in events).items():
        print(f"  {number} × {name}")


def _proposal(title: str, payload: dict[str, str]) -> dict[str, Any]:
    return {
        "room": "facilities",
        "channel": "tracker",
        "operation": "ticket.create",
        "title": title,
        "payload": payload,
    }


def _step(sentence: str) -> None:
    print(f"\n{next(_numbers)}. {sentence}", flush=True)


def _show(caller: Caller, draft: Draft) -> Draft:
    """Asks for the draft anew and prints it."""
    current: Draft = _expect(caller.get(f"/v1/drafts/{draft['id']}"), 200)
    _line(current)
    return current


def _line(draft: Draft) -> None:
    from approvals.domain.binding import short

    approval, delivery, retraction = draft["approval"], draft["delivery"], draft["retraction"]
    counted = f", {approval['approvals_counted']} of {approval['required_approvals']} approvals" if approval else ""
    print(f"  {draft['reference']}  {draft['state']}  version {draft['version']}{counted}  {short(draft['digest'])}")
    print(f"        {draft['digest']}")
    if delivery:
        print(f"        delivery {delivery['id']} {delivery['state']}, remote id {delivery['remote_id'] or '-'}")
    if retraction:
        verified = retraction["verification"] or "not read back yet"
        print(f"        retraction {retraction['id']} {retraction['state']}, {verified}")


def _expect(answer: Answer, status: int) -> Any:
    if answer.status != status:
        raise Unexpected(f"expected {status}, got {answer.status}: {json.dumps(answer.body)[:500]}")
    return answer.body


if __name__ == "__main__":
    sys.exit(main())
