"""Makes what is there before a run: an organizer, an event with one ticket that is paid by bank transfer, and a customer."""
# ruff: noqa: E402

import sys
from datetime import timedelta

import django

django.setup()

from django.core.management import call_command
from django.utils.timezone import now
from django_scopes import scopes_disabled
from pretix.base.models import Event, Organizer

EMAIL, PASSWORD, TICKET, EVENT = sys.argv[1:]


def furnish() -> None:
    organizer = Organizer.objects.create(name="Harbour Society", slug="harbour", plugins="pretix.plugins.banktransfer")
    organizer.settings.customer_accounts = True
    event = Event.objects.create(
        organizer=organizer,
        name=EVENT,
        slug="concert",
        currency="EUR",
        date_from=now() + timedelta(days=365),
        plugins="pretix.plugins.banktransfer",
        live=True,
    )
    event.settings.timezone = "UTC"
    event.settings.payment_banktransfer__enabled = True
    event.settings.payment_banktransfer_bank_details_type = "other"
    event.settings.payment_banktransfer_bank_details = "Harbour Bank, account 4711"
    ticket = event.items.create(name=TICKET, default_price=12, admission=True)
    quota = event.quotas.create(name="Places", size=100)
    quota.items.add(ticket)
    customer = organizer.customers.create(
        identifier="C4711", email=EMAIL, name_parts={"_scheme": "full", "full_name": "Ada Byron"}
    )
    customer.set_password(PASSWORD)
    customer.save()


with scopes_disabled():
    call_command("migrate", "--run-syncdb", "--verbosity", "0")
    furnish()
