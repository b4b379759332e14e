"""Adds a second event with two kinds of tickets, and another ticket to the first, to the shop of the other benchmarks."""
# ruff: noqa: E402

from datetime import timedelta

import django

django.setup()

from django.utils.timezone import now
from django_scopes import scopes_disabled
from pretix.base.models import Event, Organizer

with scopes_disabled():
    organizer = Organizer.objects.get()
    event = Event.objects.create(
        organizer=organizer,
        name="Choir evening",
        slug="choir",
        currency="EUR",
        date_from=now() + timedelta(days=400),
        plugins="pretix.plugins.banktransfer",
        live=True,
    )
    event.settings.timezone = "UTC"
    event.settings.payment_banktransfer__enabled = True
    event.settings.payment_banktransfer_bank_details_type = "other"
    event.settings.payment_banktransfer_bank_details = "Harbour Bank, account 4711"
    for of, name, price in (
        (event, "Day ticket", "9.50"),
        (event, "Supporter ticket", "31"),
        (Event.objects.get(slug="concert"), "Supporter ticket", "27"),
    ):
        ticket = of.items.create(name=name, default_price=price, admission=True)
        quota = of.quotas.create(name=f"Places for {name}", size=100)
        quota.items.add(ticket)
