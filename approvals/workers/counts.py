"""What a beat did, in numbers."""

from collections import Counter


class Counts(Counter[str]):
    """How many of each outcome. Commands turn it into words, JSON and an exit code."""

    FAILED = ("failed",)
    ATTENTION = (
        "unknown",
        "paused",
        "parked",
        "refused",
        "stopped",
        "retraction_unknown",
        "retraction_refused",
        "retraction_still_there",
    )

    @property
    def failed(self) -> int:
        return sum(self[name] for name in self.FAILED)

    @property
    def attention(self) -> int:
        """Gives how many pieces of work somebody should look at."""
        return sum(self[name] for name in self.ATTENTION)

    @property
    def done(self) -> int:
        return self.total()
