"""What is there before the story begins: an editor, and pages two levels down, one of which is to be picked."""

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand
from wagtail.models import Site

from articles.models import Article


class Command(BaseCommand):
    def add_arguments(self, parser):
        parser.add_argument("user")
        parser.add_argument("password")

    def handle(self, *args, user, password, **options):
        get_user_model().objects.create_superuser(user, f"{user}@example.com", password)
        home = Site.objects.get().root_page
        home.title = home.draft_title = "Gazette"
        home.save()
        for section in ("News", "Reports", "Notices"):
            under = home.add_child(instance=Article(title=section, summary=f"All {section.lower()}", related=home))
            for year in (2024, 2025):
                under.add_child(instance=Article(title=f"{section} of {year}", summary="Last year's", related=home))
