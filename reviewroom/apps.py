"""The project as an app: it has no tables, but checks of the settings."""

from django.apps import AppConfig


class ReviewRoomConfig(AppConfig):
    """Registers the checks."""

    name = "reviewroom"
    verbose_name = "Review Room"

    def ready(self) -> None:
        """Runs once, when all apps are loaded."""
        from reviewroom import checks  # noqa: F401 - importing it registers them
