"""Settings of the test suite: the product's own, with a throw-away database and nothing kept under `var/`."""

import os

os.environ.setdefault("REVIEWROOM_SECRET_KEY", "only-for-tests-" + "x" * 40)
os.environ.setdefault("REVIEWROOM_INSTANCE", "tests")

from reviewroom.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # log-ins are many here, guessers none
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
