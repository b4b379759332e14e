"""The only model of ours: an article that names the page it belongs with, which is picked in Wagtail's own dialog."""

from django.db import models
from wagtail.admin.panels import FieldPanel, PageChooserPanel
from wagtail.models import Page


class Article(Page):
    summary = models.CharField(max_length=200)
    related = models.ForeignKey(Page, on_delete=models.PROTECT, related_name="+")

    content_panels = (*Page.content_panels, FieldPanel("summary"), PageChooserPanel("related"))
