"""Fixtures of the verbs: a draft in each state."""

from collections.abc import Callable

import pytest

from approvals.domain.states import DraftState
from approvals.models import Draft
from tests.cast import Story
from tests.services import states


@pytest.fixture
def a_draft(story: Story) -> Callable[[DraftState], Draft]:
    """Makes a draft in a given state, by lawful steps."""
    return lambda state: states.build(story, state)
