"""Where each key of a TOML document stands. `tomllib` checks the syntax and gives values, but no lines.

Reads only documents that `tomllib` has accepted, so nothing here looks for faults.
"""

import re
import tomllib
from dataclasses import dataclass, field

Path = tuple[str, ...]  # keys, and the indexes of array items as text

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\n]+")
_STRINGS = (
    re.compile(r'"""(?:\\.|[^\\])*?"{3,5}', re.DOTALL),
    re.compile(r"'''.*?'{3,5}", re.DOTALL),
    re.compile(r'"(?:\\.|[^"\\\n])*"'),
    re.compile(r"'[^'\n]*'"),
)


def line_of(text: str, wanted: Path) -> int:
    """Gives the line (from 1) of the key at this path; of the nearest thing around it where there is no such key."""
    found = _Reader(text).places()
    while wanted and wanted not in found:
        wanted = wanted[:-1]
    return text.count("\n", 0, found.get(wanted, 0)) + 1


@dataclass
class _Reader:
    """Walks through a document once and notes the position of every key, table and array item."""

    text: str
    at: int = 0
    _found: dict[Path, int] = field(default_factory=dict)
    _sizes: dict[Path, int] = field(default_factory=dict)  # of arrays of tables

    def places(self) -> dict[Path, int]:
        table: Path = ()
        self._skip()
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip()
        return self._found

    def _header(self) -> Path:
        begun = self.at
        repeated = self.text.startswith("[[", self.at)
        self.at += 2 if repeated else 1
        keys = self._keys()
        self.at += 2 if repeated else 1
        path = self._newest(keys, repeated)
        self._found.setdefault(path, begun)
        return path

    def _newest(self, keys: list[str], repeated: bool) -> Path:
        """Gives the path of a header: through the newest item of every array of tables on the way."""
        path: Path = ()
        for number, key in enumerate(keys, 1):
            path = (*path, key)
            if number == len(keys) and repeated:
                self._found.setdefault(path, self.at)
                self._sizes[path] = self._sizes.get(path, 0) + 1
            if path in self._sizes:
                path = (*path, str(self._sizes[path] - 1))
        return path

    def _pair(self, table: Path) -> None:
        begun = self.at
        path = table
        for key in self._keys():
            path = (*path, key)
            self._found.setdefault(path, begun)
        self.at += 1  # the equals sign
        self._skip()
        self._value(path)

    def _keys(self) -> list[str]:
        """Reads `a.b."c d"` up to what follows it."""
        keys = []
        while True:
            self._skip()
            keys.append(self._key())
            self._skip()
            if self.text[self.at] != ".":
                return keys
            self.at += 1

    def _key(self) -> str:
        if self.text[self.at] in "\"'":
            return str(tomllib.loads(f"key = {self._string()}")["key"])
        match = _BARE_KEY.match(self.text, self.at)
        assert match is not None  # tomllib has read this text
        self.at = match.end()
        return match[0]

    def _value(self, path: Path) -> None:
        opening = self.text[self.at]
        if opening in "\"'":
            self._string()
        elif opening == "[":
            self._items(path)
        elif opening == "{":
            self._inline_table(path)
        else:
            match = _SCALAR.match(self.text, self.at)
            assert match is not None
            self.at = match.end()

    def _items(self, path: Path) -> None:
        self.at += 1
        number = 0
        while not self._closed("]"):
            item = (*path, str(number))
            self._found.setdefault(item, self.at)
            self._value(item)
            number += 1

    def _inline_table(self, path: Path) -> None:
        self.at += 1
        while not self._closed("}"):
            self._pair(path)

    def _closed(self, closing: str) -> bool:
        """Steps over blanks and a comma; True, and past it, at the closing bracket."""
        self._skip()
        if self.text[self.at] == ",":
            self.at += 1
            self._skip()
        if self.text[self.at] != closing:
            return False
        self.at += 1
        return True

    def _string(self) -> str:
        match = next(found for form in _STRINGS if (found := form.match(self.text, self.at)))
        self.at = match.end()
        return match[0]

    def _skip(self) -> None:
        match = _BLANK.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
