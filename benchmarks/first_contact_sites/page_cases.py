"""Tasks for the forms that servers render."""

import hashlib

from benchmarks.first_contact_sites import frameworks, pages, wizards
from benchmarks.first_contact_sites.case import RECEIPT, RECEIPT_NAME, Case
from benchmarks.first_contact_sites.planner import Brief

_CHECKOUT = Brief(
    fields=(("Full name", "Ada King"), ("City", "Bergen"), ("Standard", "on")),
    commit="Place order",
    ahead=("Continue to review", "Continue to delivery"),
    shows="We have received your order.",
)
_SUBSCRIBE = Brief(
    fields=(("E-mail address", "ada@example.org"), ("List", "devel")),
    commit="Subscribe me",
    shows="You are now on the list.",
)


PAGE_CASES: tuple[Case, ...] = (
    Case(
        name="django",
        app=frameworks.DjangoRooms,
        goal="Book the attic with a projector for Ada on 2027-03-05",
        brief=Brief(
            fields=(("Name", "Ada"), ("Room", "Attic"), ("Date", "2027-03-05"), ("I need a projector", "on")),
            commit="Book room",
            ahead=("Book a room",),
            shows="is confirmed.",
        ),
        effects=("Attic for Ada on 2027-03-05 with projector",),
    ),
    Case(
        name="rails",
        app=frameworks.RailsTickets,
        goal="Assign ticket 12 to Grace, with the comment 'urgent'",
        brief=Brief(
            fields=(("Assignee", "Grace"), ("Comment", "urgent")),
            commit="Update Ticket",
            shows="Ticket was successfully updated.",
        ),
        effects=("Grace: urgent",),
    ),
    Case(
        name="laravel",
        app=frameworks.LaravelOrders,
        goal="Order 150 metres of cable, or 100 if that is the most",
        brief=Brief(
            fields=(("Article", "cable"), ("Metres", "150")),
            commit="Order now",
            shows="Order created!",
            corrections=(("must not be greater than 100", "Metres", "100"),),
        ),
        effects=("100 m of cable",),
        sends=2,
    ),
    Case(
        name="spring",
        app=frameworks.SpringTransfers,
        goal="Transfer 12.50 EUR to Grace with the reference R-9, urgently",
        brief=Brief(
            fields=(("Recipient", "Grace"), ("Amount (EUR)", "12.50"), ("Reference", "R-9"), ("Urgent", "on")),
            commit="Transfer",
            shows="Your transfer was accepted.",
        ),
        effects=("12.50 to Grace: R-9 (urgent)",),
    ),
    Case(
        name="aspnet",
        app=frameworks.AspNetQuote,
        goal="Order 7 boards",
        brief=Brief(
            fields=(("Number of boards", "7"),),
            commit="Order boards",
            ahead=("Calculate price",),
            shows="Your boards are on their way.",
        ),
        effects=("7 boards",),
        sends=2,
    ),
    Case(
        name="wizard_session",
        app=wizards.CheckoutWizard,
        goal="Check out with standard delivery to Ada King in Bergen",
        brief=_CHECKOUT,
        effects=("Standard to Ada King, Bergen",),
        sends=3,
    ),
    Case(
        name="wizard_back",
        app=wizards.ExpressOnlyInTown,
        goal="Check out with express delivery to Ada King in Bergen, or standard if express is not possible",
        brief=Brief(
            fields=(("Full name", "Ada King"), ("City", "Bergen"), ("Express", "on")),
            commit="Place order",
            ahead=("Continue to review", "Continue to delivery"),
            shows="We have received your order.",
            corrections=(("Express is not available", "Standard", "on"),),
            back="Back",
        ),
        effects=("Standard to Ada King, Bergen",),
        sends=4,
    ),
    Case(
        name="wizard_signed",
        app=wizards.SignedWizard,
        goal="Report the theft of a bicycle for policy V-55",
        brief=Brief(
            fields=(("Policy number", "V-55"), ("Kind of damage", "Theft"), ("What happened?", "My bicycle is gone.")),
            commit="Submit claim",
            ahead=("Next",),
            shows="Your claim has the number",
        ),
        effects=("V-55: Theft, My bicycle is gone.",),
        sends=3,
    ),
    Case(
        name="redirect_307",
        app=lambda: pages.MovedOrders(307),
        goal="Order 2 fuses",
        brief=Brief(
            fields=(("Article", "Fuse"), ("Pieces", "2")), commit="Order", shows="Your parts will be sent today."
        ),
        effects=("2 x Fuse",),
        sends=2,
    ),
    Case(
        name="redirect_308",
        app=lambda: pages.MovedOrders(308),
        goal="Order 2 fuses",
        brief=Brief(
            fields=(("Article", "Fuse"), ("Pieces", "2")), commit="Order", shows="Your parts will be sent today."
        ),
        effects=("2 x Fuse",),
        sends=2,
    ),
    Case(
        name="confirm_dialog",
        app=pages.ConfirmedDeletion,
        goal="Delete the project alpha",
        brief=Brief(
            fields=(("Type the project's name to confirm", "alpha"),),
            commit="Delete project",
            shows="Project alpha was deleted.",
        ),
        effects=("alpha deleted",),
    ),
    Case(
        name="frame",
        app=pages.FramedForm,
        goal="Write 'Hello' to the company, as Ada",
        brief=Brief(
            fields=(("Your name", "Ada"), ("Message", "Hello")),
            commit="Send message",
            shows="Thank you, we will answer soon.",
        ),
        effects=("Ada: Hello",),
    ),
    Case(
        name="two_buttons",
        app=pages.TwoButtons,
        goal="Send an invoice of 80 to Acme",
        brief=Brief(
            fields=(("Customer", "Acme"), ("Total", "80")),
            commit="Send invoice",
            shows="The invoice was sent to the customer.",
        ),
        effects=("invoice to Acme: 80",),
    ),
    Case(
        name="get_undeclared",
        app=pages.GetSubscription,
        goal="Subscribe ada@example.org to the list devel. Without a policy a GET leaves without a question, and must leave once",
        brief=_SUBSCRIBE,
        effects=("ada@example.org to devel",),
        sends=0,
    ),
    Case(
        name="get_declared",
        app=pages.GetSubscription,
        goal="Subscribe ada@example.org to the list devel. The policy declares the GET unsafe: one question, one request",
        brief=_SUBSCRIBE,
        effects=("ada@example.org to devel",),
        unsafe=("GET /subscribe*",),
    ),
    Case(
        name="upload",
        app=pages.UploadedReceipts,
        goal="Claim 42.50 with the receipt",
        brief=Brief(
            fields=(("Amount", "42.50"), ("Receipt", RECEIPT_NAME)),
            commit="Submit claim",
            shows="Your claim was submitted.",
        ),
        effects=(f"42.50 {RECEIPT_NAME} {hashlib.sha256(RECEIPT).hexdigest()[:8]}",),
    ),
    Case(
        name="honeypot",
        app=pages.Honeypot,
        goal="Sign the guest book as Ada with 'Lovely place'",
        brief=Brief(
            fields=(("Name", "Ada"), ("Your words", "Lovely place")),
            commit="Sign the guest book",
            shows="Thank you for your words.",
        ),
        effects=("Ada: Lovely place",),
    ),
    Case(
        name="invalid_422",
        app=pages.StrictForm,
        goal="Reserve a table for 10 guests, or for 8 if that is the most",
        brief=Brief(
            fields=(("Name", "Ada"), ("Guests", "10")),
            commit="Reserve table",
            shows="Your table is reserved.",
            corrections=(("at most 8 guests", "Guests", "8"),),
        ),
        effects=("8 guests, Ada",),
        sends=2,
    ),
    Case(
        name="price_only",
        app=pages.PriceOnly,
        goal="Find out what the rug costs in size M. Order nothing",
        brief=Brief(fields=(("Size", "M"),), ahead=("Show price",), shows="The rug costs 129 EUR."),
        effects=(),
        sends=0,
    ),
)
