"""Who: a person or an agent as the pages name them."""

from dataclasses import dataclass

from approvals.models import User


@dataclass(frozen=True, slots=True)
class Who:
    """A name with its mark; an agent is always shown with the person behind it."""

    name: str
    is_agent: bool = False
    acts_for: str = ""
    is_you: bool = False

    @property
    def initial(self) -> str:
        return self.name[:1]


def who(user: User, acts_for: User | None = None, *, reader: User | None = None) -> Who:
    """Gives the card of an author, as `reader` sees it."""
    return Who(
        user.username,
        is_agent=user.is_agent,
        acts_for=acts_for.username if acts_for else "",
        is_you=reader is not None and reader.pk == user.pk,
    )
