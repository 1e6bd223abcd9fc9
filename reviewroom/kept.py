"""Values made once and kept under `var/`: the secret key of a local start and the instance id."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def kept(file: Path, make: Callable[[], str], *, instead: str) -> str:
    """The content of `file`, which is made on first use, readable by its owner only."""
    try:
        if not file.exists():
            _create(file, make())
        value = file.read_text(encoding="utf-8").strip()
    except OSError as exc:
        raise ImproperlyConfigured(f"{file} cannot be read or made ({exc.strerror}). Set {instead} instead.") from exc
    if not value:
        raise ImproperlyConfigured(f"{file} is empty. Delete it and start again, or set {instead}.")
    return value


def _create(file: Path, value: str) -> None:
    """Writes the whole file or nothing; when two processes start at once the first one's value stays."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent)  # made with mode 600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(value + "\n")
        os.link(name, file)
    except FileExistsError:
        pass
    finally:
        Path(name).unlink()
