"""How the tests of commands call them."""

from io import StringIO

import pytest
from django.core.management import call_command


@pytest.fixture
def command():
    """Calls a command and gives what it printed."""

    def call(*words):
        printed = StringIO()
        call_command(*words, stdout=printed, stderr=StringIO())
        return printed.getvalue()

    return call
