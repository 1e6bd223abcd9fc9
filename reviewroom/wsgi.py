"""The WSGI application that granian (or any other WSGI server) serves."""

import os

from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "reviewroom.settings")


def _refuse_wrong_settings() -> None:
    """Commands run the checks by themselves; a web server would start without them."""
    from reviewroom.checks import TAG

    wrong = [f"{message.msg} {message.hint}" for message in run_checks(tags=[TAG]) if message.is_serious()]
    if wrong:
        raise ImproperlyConfigured("\n".join(wrong))


application = get_wsgi_application()
_refuse_wrong_settings()
