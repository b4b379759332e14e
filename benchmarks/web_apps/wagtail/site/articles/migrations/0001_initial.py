from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = (("wagtailcore", "0098_apitoken"),)
    operations = (
        migrations.CreateModel(
            name="Article",
            fields=[
                (
                    "page_ptr",
                    models.OneToOneField(
                        auto_created=True,
                        on_delete=models.CASCADE,
                        parent_link=True,
                        primary_key=True,
                        serialize=False,
                        to="wagtailcore.page",
                    ),
                ),
                ("summary", models.CharField(max_length=200)),
                ("related", models.ForeignKey(on_delete=models.PROTECT, related_name="+", to="wagtailcore.page")),
            ],
            options={"abstract": False},
            bases=("wagtailcore.page",),
        ),
    )
