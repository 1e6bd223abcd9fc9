"""Settings of the test suite: the product's own on a throw-away database, whatever the caller's environment."""

import os

from tests.support.databases import URL

for name in [name for name in os.environ if name.startswith("REVIEWROOM_")]:
    if not name.startswith("REVIEWROOM_TEST_"):
        del os.environ[name]
os.environ["REVIEWROOM_SECRET_KEY"] = "only-for-tests-" + "x" * 40
os.environ["REVIEWROOM_INSTANCE"] = "tests"
os.environ["REVIEWROOM_DATABASE_URL"] = os.environ.get(URL, "sqlite:///var/tests.sqlite3")

from reviewroom.settings import *  # noqa: F403
from reviewroom.settings import DATABASES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # many log-ins, no guessers
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True  # files come from the source tree; nothing is collected
DATABASES["default"]["CONN_MAX_AGE"] = 0  # a connection left open would keep the test database from being dropped
if "sqlite3" in DATABASES["default"]["ENGINE"]:
    # A file, as in production: an in-memory database has no WAL and other locks, and no second process sees it.
    DATABASES["default"]["TEST"] = {"NAME": DATABASES["default"]["NAME"].replace(".sqlite3", "-test.sqlite3")}
