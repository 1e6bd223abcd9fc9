"""Finds a Chromium for the browser tests, or gets one."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW_TO_GET_IT = "apt-get install chromium, or `.venv/bin/playwright install chromium`"
INSTALL_SECONDS = 600


class NoChromium(Exception):
    """No Chromium could be had on this machine."""


def executable() -> str | None:
    """The program to start; None stands for Playwright's own download."""
    found = _installed()
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        _quietly("apt-get", "update")
        _quietly("apt-get", "install", "-y", "--no-install-recommends", "chromium")
        found = _installed()
    if found is None and not _downloaded():
        raise NoChromium(f"Get it with {HOW_TO_GET_IT}.")
    return found


def _installed() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def _downloaded() -> bool:
    from playwright.sync_api import sync_playwright

    def there() -> bool:
        with sync_playwright() as playwright:
            return Path(playwright.chromium.executable_path).exists()

    return there() or (_quietly(sys.executable, "-m", "playwright", "install", "chromium") and there())


def _quietly(*command: str) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(command, capture_output=True, timeout=INSTALL_SECONDS, env=environment)
        return done.returncode == 0
    return False


@contextlib.contextmanager
def loop_set_aside() -> Iterator[None]:
    """Lets code inside call `asyncio.run` although Playwright's loop lives in this thread.

    No call of Playwright may be made inside.
    """
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(running)
