"""The tasks that other systems carry out too."""

CHOSEN = (
    "roundcube-forward",
    "directus-price",
    "django-loan",
    "gradio-report",
    "pretix-lost",
    "wagtail-ships",
    "mediawiki-history",
    "redmine-gangway",
    "trac-login",
    "streamlit-book",
    "dokuwiki-plan",
    "jupyterlab-draft",
)
"""One of each application, of nine kinds, chosen before any of them was run."""
