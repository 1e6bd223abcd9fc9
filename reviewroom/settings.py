"""All settings: from `REVIEWROOM_...` variables, with defaults that are right on a developer's machine."""

import re
import uuid
from importlib.metadata import entry_points
from pathlib import Path
from urllib.parse import urlsplit

from csp.constants import NONE, SELF
from django.core.management.utils import get_random_secret_key

from reviewroom import database, environment
from reviewroom.kept import kept
from reviewroom.logs import logging_settings

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = BASE_DIR / "var"

# Where it runs. "Local" means that only names of this machine are answered.
LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
ALLOWED_HOSTS = environment.words("ALLOWED_HOSTS", LOOPBACK_HOSTS)
LOCAL = set(ALLOWED_HOSTS) <= {*LOOPBACK_HOSTS, "::1", "testserver"}
DEBUG = environment.flag("DEBUG", False)
HTTPS = environment.flag("HTTPS", not LOCAL)
REVIEWROOM_DEBUG = DEBUG
REVIEWROOM_ALLOWED_HOSTS = ALLOWED_HOSTS

# Keys. A local start makes its own; anything else must bring one.
if environment.is_set("SECRET_KEY"):
    SECRET_KEY = environment.secret("SECRET_KEY", shortest=32)
elif DEBUG or (LOCAL and not environment.is_set("DEBUG")):
    SECRET_KEY = kept(VAR_DIR / "secret-key", get_random_secret_key, instead="REVIEWROOM_SECRET_KEY")
else:
    raise environment.wrong(
        "SECRET_KEY",
        "is not set, and this is not a local start",
        "Make one with `python -c 'import secrets; print(secrets.token_urlsafe(50))'` and keep it; "
        "or set REVIEWROOM_DEBUG=true on a developer's machine.",
    )
SECRET_KEY_FALLBACKS = environment.words("SECRET_KEY_FALLBACKS", [])
REVIEWROOM_SECRET_KEY = SECRET_KEY
REVIEWROOM_SECRET_KEY_FALLBACKS = SECRET_KEY_FALLBACKS

# Database
REVIEWROOM_DATABASE_URL = environment.secret("DATABASE_URL", "sqlite:///var/reviewroom.sqlite3")
DATABASES = {"default": database.from_url(REVIEWROOM_DATABASE_URL, BASE_DIR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# The engine
SINK_SCHEMES = sorted(point.name for point in entry_points(group="reviewroom.sinks"))  # of installed packages
REVIEWROOM_AUDIT_SINK = environment.text(
    "AUDIT_SINK",
    (VAR_DIR / "audit-sink.jsonl").as_uri(),
    pattern=rf"(file:///|https?://|({'|'.join(map(re.escape, SINK_SCHEMES)) or '(?!)'}):)[^\s]+",
    fix="Write file:///absolute/path.jsonl or https://host/path; other schemes come with installed packages.",
)
REVIEWROOM_AUDIT_TOKEN = environment.secret("AUDIT_TOKEN")
REVIEWROOM_AUDIT_SIGNING_SECRET = environment.secret("AUDIT_SIGNING_SECRET")  # Standard Webhooks, http(s) only
REVIEWROOM_AUDIT_GZIP = environment.flag("AUDIT_GZIP", False)  # http(s) only
REVIEWROOM_AUDIT_ROTATE = environment.text(
    "AUDIT_ROTATE", "", pattern="(daily|[1-9][0-9]{0,11}(KB|MB|GB|))?", fix="Write a size like 100MB, or daily."
)  # file only
NAME_FIX = "Use letters, digits and . _ - : /, at most 200 characters."
NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}"
REVIEWROOM_TENANT = environment.text("TENANT", "default", pattern=NAME_PATTERN, fix=NAME_FIX)
REVIEWROOM_SCOPE = environment.text("SCOPE", "review-room", pattern=NAME_PATTERN, fix=NAME_FIX)
REVIEWROOM_ISSUER = environment.text("ISSUER", "review-room", pattern=NAME_PATTERN, fix=NAME_FIX)
# Which installation this is: a copied database finds another id on its new machine, and workers send nothing.
REVIEWROOM_INSTANCE = environment.text("INSTANCE", "", pattern=f"({NAME_PATTERN})?", fix=NAME_FIX) or kept(
    VAR_DIR / "instance-id", lambda: str(uuid.uuid4()), instead="REVIEWROOM_INSTANCE"
)
REVIEWROOM_SIGNING_KEY_FILE = environment.path("SIGNING_KEY_FILE", VAR_DIR / "signing-key.json")
REVIEWROOM_ALLOW_PRIVATE_TARGETS = environment.flag("ALLOW_PRIVATE_TARGETS", False)
REVIEWROOM_SEND_TIMEOUT_SECONDS = environment.whole("SEND_TIMEOUT_SECONDS", 20, least=1, most=600, unit="seconds")
REVIEWROOM_LEASE_SECONDS = environment.whole("LEASE_SECONDS", 60, least=3, most=3600, unit="seconds")
REVIEWROOM_ABSENT_GRACE_SECONDS = environment.whole("ABSENT_GRACE_SECONDS", 120, least=4, most=86400, unit="seconds")
REVIEWROOM_HEARTBEAT_SECONDS = environment.whole("HEARTBEAT_SECONDS", 300, least=10, most=86400, unit="seconds")
REVIEWROOM_PORT = environment.whole("PORT", 8000, least=1, most=65535, unit="port")
REVIEWROOM_TRACKER_PORT = environment.whole("TRACKER_PORT", 8917, least=1, most=65535, unit="port")
REVIEWROOM_DEMO_PASSWORD = environment.secret("DEMO_PASSWORD", "review-room")  # of the people load_demo makes
REVIEWROOM_VAR_DIR = VAR_DIR

# Application
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "approvals.apps.ApprovalsConfig",
    "reviewroom.apps.ReviewRoomConfig",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "reviewroom.urls"
WSGI_APPLICATION = "reviewroom.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# People
AUTH_USER_MODEL = "approvals.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = LOGIN_URL

# Language and time. Everything is UTC; pages say so.
LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

# Static files
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = VAR_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "reviewroom.storage.CollectedStorage"},
}
WHITENOISE_USE_FINDERS = LOCAL
WHITENOISE_AUTOREFRESH = DEBUG

# Browser safety. No inline script or style anywhere, admin included.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    },
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True  # forms and the htmx header carry the token; no script reads the cookie
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "approvals.web.views.faults.csrf_failure"
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]  # asked by machines inside the network
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024  # above the largest draft, so that its own refusal is the one people see

LOGGING = logging_settings(
    environment.text("LOG_FORMAT", "text" if LOCAL else "json", pattern="text|json", fix="Write text or json.")
)

SILENCED_SYSTEM_CHECKS: list[str] = []

if urlsplit(REVIEWROOM_AUDIT_SINK).scheme in {"http", "https"} and not REVIEWROOM_AUDIT_TOKEN:
    raise environment.wrong(
        "AUDIT_TOKEN", "is not set, but the audit sink is reached by HTTP", "Set the sink's bearer token."
    )
