"""The applications by name."""

from benchmarks.reading_mind.apps.application import Application
from benchmarks.reading_mind.apps.directus import Directus
from benchmarks.reading_mind.apps.django_admin import DjangoAdmin
from benchmarks.reading_mind.apps.dokuwiki import DokuWiki
from benchmarks.reading_mind.apps.gradio import Gradio
from benchmarks.reading_mind.apps.jupyterlab import JupyterLab
from benchmarks.reading_mind.apps.mediawiki import MediaWiki
from benchmarks.reading_mind.apps.pretix import Pretix
from benchmarks.reading_mind.apps.redmine import Redmine
from benchmarks.reading_mind.apps.roundcube import Roundcube
from benchmarks.reading_mind.apps.streamlit import Streamlit
from benchmarks.reading_mind.apps.trac import Trac
from benchmarks.reading_mind.apps.wagtail import Wagtail

APPLICATIONS: dict[str, type[Application]] = {
    each.name: each
    for each in (
        Roundcube, Directus, DjangoAdmin, Gradio, Pretix, Wagtail,
        MediaWiki, Redmine, Trac, Streamlit, DokuWiki, JupyterLab,
    )
}  # fmt: skip
