"""The one app."""

from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    """Wires the walls to migrate and registers the system checks."""

    name = "approvals"
    verbose_name = "Review Room"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.db.models.signals import post_migrate, pre_migrate

        from approvals import checks  # noqa: F401  registers the checks
        from approvals.models import walls

        pre_migrate.connect(walls.before_migrate, sender=self, dispatch_uid="walls.drop")
        post_migrate.connect(walls.after_migrate, sender=self, dispatch_uid="walls.install")
