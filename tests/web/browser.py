"""What the Chromium tests share: logging in, axe, and waiting for what the eye would wait for."""

import json
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT

from tests.cast import PASSWORD

LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
WIDTHS = (320, 390, 831, 832, 1151, 1152, 1440, 1920)


def log_in(page: Any, name: str, *, to: str = "/") -> None:
    page.goto(f"/accounts/login/?next={to}")
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/accounts/login/" not in url)


def faults(page: Any) -> list[str]:
    """Gives what axe finds on the page as it stands, one line for each rule."""
    page.evaluate(AXE_SCRIPT)
    options = json.dumps({"runOnly": LEVELS, "resultTypes": ["violations"]})
    found = page.evaluate(f"axe.run(document, {options})")
    return [
        f"{rule['id']}: {rule['help']} at {[node['target'] for node in rule['nodes']][:3]}"
        for rule in found["violations"]
    ]


def overflows(page: Any) -> list[int]:
    """Gives the widths at which the page can be scrolled sideways."""
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            found.append(width)
    return found


def focused(page: Any) -> str:
    """Gives the text of the element that has focus."""
    return str(page.evaluate("document.activeElement.textContent.trim()"))
