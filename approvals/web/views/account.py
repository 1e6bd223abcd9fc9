"""Log-in. Every one is recorded, the failed ones too; where it leads next stays on this site."""

from django.contrib.auth import views as auth
from django.contrib.auth.forms import AuthenticationForm
from django.db import transaction
from django.http import HttpResponse

from approvals.domain.actor import Actor
from approvals.domain.errors import Unauthenticated
from approvals.models import User
from approvals.models.clock import database_now
from approvals.services import audit
from approvals.web.access import actor_of, address_of, uncached


class LogIn(auth.LoginView):
    """Django's own view checks password and `next`; this one records."""

    redirect_authenticated_user = True

    def dispatch(self, *args: object, **kwargs: object) -> HttpResponse:
        return uncached(super().dispatch(*args, **kwargs))

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_valid(form)
        user = form.get_user()
        assert isinstance(user, User)
        with transaction.atomic():
            now = database_now()
            audit.append(chain=audit.SYSTEM_CHAIN, actor=actor_of(self.request), action="session.opened", now=now)
        return response

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Records whose log-in was refused, never the password that was tried."""
        tried = str(form.cleaned_data.get("username", ""))
        # Many a password is typed into the wrong field, and what is recorded can never be taken out again.
        whom = tried if User.objects.filter(username=tried).exists() else "nobody we know"
        address = address_of(self.request)
        actor = Actor(kind="anonymous", name=address or "unknown", via="web", address=address)
        refusal = Unauthenticated(f"The log-in as {whom} was refused.")
        audit.record_refusal(actor=actor, verb="log_in", refusal=refusal)
        return super().form_invalid(form)
