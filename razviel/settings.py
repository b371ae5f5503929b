"""Every setting of the project, read from the environment.

Promises: a missing secret or address stops the start with one sentence; whatever is left out is
the safe choice (no debug, secure cookies, no private platform addresses). The names are listed
in docs/deploy.md. Does not know: how the addresses came to be (razviel.embedded, a deployment).
"""

from __future__ import annotations

from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured

from integrations.vault import BadKeyRing, KeyRing
from razviel.logs import logging_configuration

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()


def required(name: str, *, what: str) -> str:
    """Return a variable that has no safe default.

    Raises:
        ImproperlyConfigured: it is missing or empty.
    """
    value = str(env.str(name, default="")).strip()
    if not value:
        message = f"Razviel does not start without {name}: set it to {what}."
        raise ImproperlyConfigured(message)
    return value


# --- Secrets --------------------------------------------------------------------------------

SECRET_KEY = required("RAZVIEL_SECRET_KEY", what="a random text of 50 characters or more")
SECRET_KEY_FALLBACKS = env.list("RAZVIEL_SECRET_KEY_FALLBACKS", default=[])

RAZVIEL_VAULT_KEYS = required(
    "RAZVIEL_VAULT_KEYS", what="id:key, the key being 32 random bytes in base64"
)
try:
    KeyRing.parse(RAZVIEL_VAULT_KEYS)
except BadKeyRing as cause:
    raise ImproperlyConfigured(f"{BadKeyRing.__doc__} Here {cause}.") from None

# --- Where it runs --------------------------------------------------------------------------

DEBUG = env.bool("RAZVIEL_DEBUG", default=False)
# Plain http is for a demo on loopback: cookies and redirects then do without TLS.
RAZVIEL_PLAIN_HTTP = env.bool("RAZVIEL_PLAIN_HTTP", default=False)
# Connections may point at private and loopback addresses: the demo's sandbox lives there.
RAZVIEL_ALLOW_PRIVATE_PLATFORMS = env.bool("RAZVIEL_ALLOW_PRIVATE_PLATFORMS", default=False)
ALLOWED_HOSTS = env.list("RAZVIEL_ALLOWED_HOSTS", default=[])
CSRF_TRUSTED_ORIGINS = env.list("RAZVIEL_CSRF_TRUSTED_ORIGINS", default=[])
ROOT_URLCONF = "razviel.urls"
WSGI_APPLICATION = "razviel.wsgi.application"

# --- Applications ---------------------------------------------------------------------------

INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    # Without a search for admin modules: the Console names its pages, and workers load none.
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "integrations",
    "tickets",
    "actions",
    "razviel",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "razviel.csp.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [],
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

# --- Database: one, with two roles ----------------------------------------------------------

# A stuck statement or an open transaction ends by itself: no lock outlives these.
_APPLICATION_TIMEOUTS = {
    "idle_in_transaction_session_timeout": env.int(
        "RAZVIEL_IDLE_IN_TRANSACTION_TIMEOUT_MILLISECONDS", default=5_000
    ),
    "lock_timeout": env.int("RAZVIEL_LOCK_TIMEOUT_MILLISECONDS", default=2_000),
    "statement_timeout": env.int("RAZVIEL_STATEMENT_TIMEOUT_MILLISECONDS", default=10_000),
}


def database(url: str, *, timeouts_milliseconds: dict[str, int]) -> dict[str, object]:
    """Return Django's description of one role's access to the database."""
    described: dict[str, object] = dict(env.db_url_config(url))
    options = dict(described.get("OPTIONS") or {})  # type: ignore[call-overload] # a dict of text
    settings = " ".join(f"-c {name}={value}" for name, value in timeouts_milliseconds.items())
    options["options"] = f"{options.get('options', '')} {settings}".strip()
    options.setdefault("connect_timeout", 5)
    return {
        **described,
        "OPTIONS": options,
        # Kept open between requests and tasks, and asked before each whether it still answers.
        "CONN_MAX_AGE": env.int("RAZVIEL_CONNECTION_MAX_AGE_SECONDS", default=60),
        "CONN_HEALTH_CHECKS": True,
        "ATOMIC_REQUESTS": False,
    }


_DATABASE_URL = required("DATABASE_URL", what="the address of the role that the code runs as")
DATABASES = {
    # The application's role owns nothing; migrations grant it what it may do.
    "default": database(_DATABASE_URL, timeouts_milliseconds=_APPLICATION_TIMEOUTS),
    # Only `migrate --database owner` uses this one. A process that needs no owner has no address.
    "owner": database(
        env.str("DATABASE_OWNER_URL", default="") or _DATABASE_URL, timeouts_milliseconds={}
    ),
}
DATABASE_ROUTERS: list[str] = []
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Time and words -------------------------------------------------------------------------

USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False
LANGUAGE_CODE = "en"

# --- Who may do what ------------------------------------------------------------------------

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "/console/login/"
LOGIN_REDIRECT_URL = "/console/"

SECURE_SSL_REDIRECT = not RAZVIEL_PLAIN_HTTP
# Probes come from inside, without TLS; the API refuses a token in plain text, and redirects none.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^api/"]
SECURE_HSTS_SECONDS = 0 if RAZVIEL_PLAIN_HTTP else 31_536_000
SECURE_HSTS_INCLUDE_SUBDOMAINS = not RAZVIEL_PLAIN_HTTP
if env.bool("RAZVIEL_BEHIND_TLS_PROXY", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = not RAZVIEL_PLAIN_HTTP
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 60 * 60
CSRF_COOKIE_SECURE = not RAZVIEL_PLAIN_HTTP
CSRF_COOKIE_HTTPONLY = True
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

# --- Static files: served by the web process itself -----------------------------------------

STATIC_URL = "/static/"
# A local run takes them from the packages; a deployment runs collectstatic once.
STATIC_ROOT = None if RAZVIEL_PLAIN_HTTP else BASE_DIR / "static"
WHITENOISE_USE_FINDERS = RAZVIEL_PLAIN_HTTP
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": (
            "django.contrib.staticfiles.storage.StaticFilesStorage"
            if RAZVIEL_PLAIN_HTTP
            else "whitenoise.storage.CompressedManifestStaticFilesStorage"
        )
    },
}

# --- API ------------------------------------------------------------------------------------

REST_FRAMEWORK: dict[str, object] = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["integrations.api.bodies.StrictJSONParser"],
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    # Closed until a view says who may: a forgotten permission refuses.
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "integrations.api.failures.answer_failure",
    "DEFAULT_METADATA_CLASS": None,  # OPTIONS is no method of ours
    "URL_FORMAT_OVERRIDE": None,
    "COERCE_DECIMAL_TO_STRING": True,
    "UNAUTHENTICATED_USER": None,
    # No throttles: those of the framework count in a cache, which each process has for itself, and
    # a limit that holds only by chance is none. A proxy can count by Authorization header.
}
SPECTACULAR_SETTINGS: dict[str, object] = {
    "TITLE": "Razviel",
    "DESCRIPTION": "Support actions that are done only when the platform says so.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "ENUM_NAME_OVERRIDES": {
        "IntentState": "actions.states.State",
        "NeedsHumanReason": "actions.states.NeedsHuman",
        "Ruling": "actions.policy.verdicts.Ruling",
        "TicketStatus": "tickets.models.TicketStatus",
        "ClosedStatus": ["resolved", "closed_unresolved"],
        "CloseReason": "tickets.models.CloseReason",
        "Resolver": "tickets.path.Resolver",
        "ActorKind": "integrations.actors.ActorKind",
    },
    "SERVE_INCLUDE_SCHEMA": False,
    # The document holds nothing that is not in the source.
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SWAGGER_UI_SETTINGS": {"persistAuthorization": False, "deepLinking": True},
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}
# --- Console --------------------------------------------------------------------------------

UNFOLD: dict[str, object] = {
    "SITE_TITLE": "Razviel",
    "SITE_HEADER": "Razviel",
    "SITE_SYMBOL": "fact_check",
    "SITE_URL": None,
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": "razviel.console.mark"},
    ],
    "STYLES": ["razviel.console.stylesheet"],
    "SIDEBAR": {"navigation": "razviel.console.navigation"},
}

# --- Celery: it only wakes workers; the row is the queue ------------------------------------

CELERY_BROKER_URL = env.str("RAZVIEL_BROKER_URL", default="") or required(
    "REDIS_URL", what="the broker's address (or set RAZVIEL_BROKER_URL, which RabbitMQ can be)"
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_TIMEOUT = 2
CELERY_TIMEZONE = "UTC"
CELERY_ENABLE_UTC = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
# No result backend: results would be a second truth, and keys that nobody deletes.
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_CREATE_MISSING_QUEUES = True
CELERY_TASK_DEFAULT_QUEUE = "reads"
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONCURRENCY = env.int("RAZVIEL_WORKER_THREADS", default=16)
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Threads can't be cancelled: Celery's thread pool raises on it (celery/concurrency/base.py,
# terminate_job; 5.7.0, read 2026-11-30). A second delivery loses the claim and does nothing.
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 30
# Waiting while idle only protects ETA tasks, and there are none: due_at is on the row.
CELERY_WORKER_ENABLE_SOFT_SHUTDOWN_ON_IDLE = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_WORKER_SEND_TASK_EVENTS = False
# In memory: intervals need no file, and a second beat does no harm.
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"
if CELERY_BROKER_URL.startswith(("redis", "valkey")):
    # A Redis-only switch; RabbitMQ's prefetch of one does the same.
    CELERY_WORKER_DISABLE_PREFETCH = True
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        # Longer than any task: a call has its own deadline of seconds.
        "visibility_timeout": 900,
        "socket_connect_timeout": 1,
        # Twice the worker's blocking read of 1 s; a publisher waits no longer than this either.
        "socket_timeout": 2,
        "socket_keepalive": True,
        "health_check_interval": 25,
        "retry_on_timeout": False,
        # Publishers try once: without this a wake-up waits for ever while the broker is away
        # (https://github.com/celery/celery/issues/4296, read 2026-11-30). A worker's own
        # reconnection has no such limit.
        "max_retries": 0,
    }

# --- Logs -----------------------------------------------------------------------------------

LOGGING_CONFIG = "logging.config.dictConfig"
LOGGING = logging_configuration(level=env.str("RAZVIEL_LOG_LEVEL", default="INFO"))
