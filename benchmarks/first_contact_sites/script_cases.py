"""Tasks for the forms that scripts send."""

from benchmarks.first_contact_sites import apis, scripted
from benchmarks.first_contact_sites.case import Case
from benchmarks.first_contact_sites.planner import Brief

_LAMP = "Order a desk lamp with the reference PO-7731"
_ORDER = (("Article", "Desk lamp"), ("Your reference", "PO-7731"))

SCRIPT_CASES: tuple[Case, ...] = (
    Case(
        name="autosave",
        app=scripted.AutosavedArticle,
        goal="Publish the article 'Lamps' with the text 'They hum.'",
        brief=Brief(
            fields=(("Title", "Lamps"), ("Text", "They hum.")), commit="Publish", shows="Your article is online."
        ),
        effects=("Lamps: They hum.",),
    ),
    Case(
        name="optimistic",
        app=lambda: scripted.OptimisticBasket(stock=5),
        goal=_LAMP,
        brief=Brief(fields=_ORDER, commit="Buy now", shows="Your order is placed."),
        effects=("Desk lamp PO-7731",),
    ),
    Case(
        name="optimistic_refused",
        app=lambda: scripted.OptimisticBasket(stock=0),
        goal=_LAMP,
        brief=Brief(
            fields=_ORDER, commit="Buy now", shows="Your order is placed.", refused="did not work: out of stock"
        ),
        effects=(),
        ending="not_done",
    ),
    Case(
        name="slow_guarded",
        app=lambda: scripted.SlowShop(guard=True),
        goal=_LAMP,
        brief=Brief(fields=_ORDER, commit="Send order", shows="Your order has been received."),
        effects=("Desk lamp PO-7731",),
    ),
    Case(
        name="slow_unguarded",
        app=lambda: scripted.SlowShop(guard=False),
        goal=_LAMP,
        brief=Brief(fields=_ORDER, commit="Send order", shows="Your order has been received."),
        effects=("Desk lamp PO-7731",),
    ),
    Case(
        name="key_in_header",
        app=scripted.KeyedPayments,
        goal="Pay 99 to Acme",
        brief=Brief(fields=(("Payee", "Acme"), ("Amount", "99")), commit="Pay", shows="succeeded."),
        effects=("99 to Acme",),
    ),
    Case(
        name="key_in_form",
        app=scripted.KeyedForm,
        goal="Donate 20 with the message 'For the roof'",
        brief=Brief(
            fields=(("Amount", "20"), ("Message", "For the roof")),
            commit="Donate",
            shows="Thank you for your donation!",
            orders="My donations",
            reference="20: For the roof",
        ),
        effects=("20: For the roof",),
        sends=2,
    ),
    Case(
        name="analytics",
        app=scripted.LoudShop,
        goal="Request a demo for Acme, ada@example.org",
        brief=Brief(
            fields=(("E-mail", "ada@example.org"), ("Company", "Acme")),
            commit="Request a demo",
            shows="We will call you tomorrow.",
        ),
        effects=("ada@example.org, Acme",),
    ),
    Case(
        name="json_api",
        app=apis.JsonLeave,
        goal="Request leave from 1 May to 5 May for a holiday",
        brief=Brief(
            fields=(
                ("User", "alan"),
                ("Password", "turing"),
                ("From", "1 May"),
                ("To", "5 May"),
                ("Reason", "Holiday"),
            ),
            commit="Send request",
            ahead=("Sign in",),
            shows="was sent to your manager.",
        ),
        effects=("1 May to 5 May: Holiday",),
        sends=2,
    ),
    Case(
        name="graphql",
        app=apis.GraphQLShop,
        goal="Order 3 packets of Sencha",
        brief=Brief(fields=(("Article", "Sencha"), ("Pieces", "3")), commit="Order", shows="is on its way."),
        effects=("3 x Sencha",),
        sends=2,
    ),
    Case(
        name="form_data",
        app=apis.FormDataReviews,
        goal="Review the lamp with five stars and the headline 'Bright'",
        brief=Brief(
            fields=(("5 stars", "on"), ("Headline", "Bright")),
            commit="Post review",
            shows="your review will appear soon.",
        ),
        effects=("5 stars: Bright",),
    ),
    Case(
        name="typeahead",
        app=apis.TypeaheadTrips,
        goal="Book a trip to Bergen",
        brief=Brief(fields=(("Destination", "Bergen"),), commit="Book trip", shows="Have a good journey."),
        effects=("to BGO",),
    ),
)
