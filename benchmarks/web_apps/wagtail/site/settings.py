"""Wagtail as it comes, on one SQLite file. What it would fetch from other hosts (avatars, news of releases) is off."""

import os
from pathlib import Path

DATABASE = Path(os.environ["WAGTAIL_DATABASE"])

INSTALLED_APPS = [
    "articles",
    "wagtail.sites",
    "wagtail.users",
    "wagtail.documents",
    "wagtail.images",
    "wagtail.search",
    "wagtail.admin",
    "wagtail",
    "modelcluster",
    "taggit",
    "django_filters",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
]
MIDDLEWARE = [
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
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": DATABASE,
        "OPTIONS": {"timeout": 20, "transaction_mode": "IMMEDIATE", "init_command": "PRAGMA journal_mode=WAL"},
    }
}
DEBUG = True  # or it would not serve its own scripts
ALLOWED_HOSTS = ["127.0.0.1"]
SECRET_KEY = "only for a benchmark on loopback"
ROOT_URLCONF = "urls"
STATIC_URL = "/static/"
MEDIA_ROOT = DATABASE.parent / "media"
MEDIA_URL = "/media/"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

WAGTAIL_SITE_NAME = "Gazette"
WAGTAILADMIN_BASE_URL = "http://127.0.0.1"
WAGTAIL_GRAVATAR_PROVIDER_URL = None
WAGTAIL_ENABLE_UPDATE_CHECK = False
WAGTAIL_ENABLE_WHATS_NEW_BANNER = False
WAGTAIL_AUTOSAVE_INTERVAL = 0
"""A draft that saves itself goes to the address that publishing goes to, and a policy tells requests apart by their address."""
