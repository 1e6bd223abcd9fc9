"""Users of both kinds, whom an agent acts for, and bearer tokens."""

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """A person or an agent. An agent acts for named persons and never decides."""

    class Kind(models.TextChoices):
        PERSON = "person"
        AGENT = "agent"

    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.PERSON)
    acts_for = models.ManyToManyField(
        "self", symmetrical=False, blank=True, related_name="agents", limit_choices_to={"kind": Kind.PERSON}
    )

    @property
    def is_agent(self) -> bool:
        return self.kind == self.Kind.AGENT


class ApiToken(models.Model):
    """A bearer token; only its SHA-256 is kept, so it can be shown once and never again."""

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="tokens")
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField()
    acts_for = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"token {self.pk} of {self.user}"
