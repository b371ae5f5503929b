"""The web process: `gunicorn razviel.wsgi`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "razviel.settings")

application = get_wsgi_application()
