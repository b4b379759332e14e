"""The tasks, as they were before the first of them was answered."""

from benchmarks.llm.decisions import CONCERT
from benchmarks.reading_mind.apps import directus, django_admin, dokuwiki, mediawiki, redmine, roundcube, wagtail
from benchmarks.reading_mind.judging import Appended, NextMonday, Text, changed, created, deleted
from benchmarks.reading_mind.task import LostAnswer, Task

_MAIL = {"inputs": {"user": roundcube.USER}, "secrets": {"password": roundcube.PASSWORD}}
_STOCK = {"inputs": {"email": directus.USER}, "secrets": {"password": directus.PASSWORD}}
_LIBRARY = {"inputs": {"user": django_admin.USER}, "secrets": {"password": django_admin.PASSWORD}}
_GAZETTE = {"inputs": {"user": wagtail.USER}, "secrets": {"password": wagtail.PASSWORD}}
_WIKI = {"inputs": {"user": mediawiki.USER}, "secrets": {"password": mediawiki.PASSWORD}}
_ISSUES = {"inputs": {"user": redmine.USER}, "secrets": {"password": redmine.PASSWORD}}
_PAGES = {"inputs": {"user": dokuwiki.USER}, "secrets": {"password": dokuwiki.PASSWORD}}
_CRANE_NOTE = "In 2026 the harbour bought a third crane, which lifts 60 t."
_HISTORY_NOTE = "In 2026 the light on the east mole was changed to LED lamps, which use a tenth of the power."

TASKS = (
    # --- Roundcube
    Task(
        id="roundcube-forward",
        app="roundcube",
        kind="multi_page",
        goal="Find the mail about the overdue invoice and forward it to the address that it names",
        **_MAIL,
        effects=(
            created(
                "sent", to="billing@example.org", subject=Text(("Invoice 4711 overdue",)), text=Text(("312.40 EUR",))
            ),
            created("kept", folder="Sent", subject=Text(("Invoice 4711 overdue",))),
        ),
    ),
    Task(
        id="roundcube-minutes",
        app="roundcube",
        kind="long_text",
        goal="In the minutes of the board in October: on which day is the new crane inspected, by whom, and what becomes of the old one?",
        **_MAIL,
        answer=("9 Feb|Feb 9|February 9|09 Feb|02-09", "Henrik Dahl", "museum"),
    ),
    Task(
        id="roundcube-chris",
        app="roundcube",
        kind="ambiguous",
        goal="Write to Chris from my contacts that Thursday's meeting begins at 15:00. Subject: Meeting on Thursday",
        **_MAIL,
        person="Chris Brandt, the one at the harbour",
        effects=(
            created("sent", to="chris.brandt@harbour.example", subject="Meeting on Thursday", text=Text(("15:00",))),
            created("kept", folder="Sent", subject="Meeting on Thursday"),
        ),
        must_ask=True,
    ),
    # --- Directus
    Task(
        id="directus-role",
        app="directus",
        kind="multi_page",
        goal="Create a role 'Stock keeper' with the description 'Counts the stock on Fridays'",
        at="/admin/",
        **_STOCK,
        effects=(created("role", name="Stock keeper", description="Counts the stock on Fridays"),),
    ),
    Task(
        id="directus-price",
        app="directus",
        kind="edit",
        goal="In Products, set the price of the brass lantern to 49.5 and its stock to 15",
        at="/admin/",
        **_STOCK,
        effects=(changed("product", {"name": "Brass lantern"}, price="49.5", stock="15"),),
    ),
    Task(
        id="directus-sold-out",
        app="directus",
        kind="table",
        goal="List the name and the price of all products that are out of stock",
        at="/admin/",
        **_STOCK,
        outputs=("products:json",),
        answer=("Oak bucket", "18.5", "Signal flags", "63", "Sextant", "389"),
    ),
    # --- Django admin
    Task(
        id="django-loan",
        app="django_admin",
        kind="date",
        goal="Lend 'The Salt Road' to Mira Holm until next Monday, 18:00: add the loan on the book's page",
        at="/admin/",
        **_LIBRARY,
        effects=(created("loan", book="The Salt Road", member="Mira Holm", due=NextMonday("%Y-%m-%d 18:00")),),
    ),
    Task(
        id="django-book",
        app="django_admin",
        kind="autocomplete",
        goal="Add the book 'The Amber Coast' by Sofia Marin, published on 14 March 2025, for 24.80, with the subjects History and Travel",
        at="/admin/",
        **_LIBRARY,
        effects=(
            created(
                "book",
                title="The Amber Coast",
                author="Sofia Marin",
                published="2025-03-14",
                price="24.80",
                subjects="History, Travel",
                in_print="1",
            ),
        ),
    ),
    Task(
        id="django-newest",
        app="django_admin",
        kind="table",
        goal="List title, author and price of the five books that were published last",
        at="/admin/",
        **_LIBRARY,
        outputs=("books:json",),
        answer=(
            "The Stone Machine",
            "The Night Machine",
            "The Harbour Machine",
            "The Paper Machine",
            "The River Machine",
        ),
    ),
    # --- Gradio
    Task(
        id="gradio-report",
        app="gradio",
        kind="download",
        goal="Evaluate the sum of the amounts in my file from 1 February 2026 on, and tell me the value and the checksum in the report",
        files=("expenses.csv",),
        outputs=("value:number", "checksum:string"),
        answer=("903.49", "592"),
    ),
    Task(
        id="gradio-claim",
        app="gradio",
        kind="upload",
        goal="Claim 64.80 EUR for 'Ferry to the island' as travel, with my receipt, and tell me the number of the claim",
        files=("receipt.txt",),
        effects=(
            created(
                "claim",
                purpose="Ferry to the island",
                amount="64.80",
                category="Travel",
                receipt=Text(("Receipt 88-104",)),
            ),
        ),
        answer=("4107",),
    ),
    Task(
        id="gradio-withdraw",
        app="gradio",
        kind="impossible",
        goal="Withdraw the claim that I filed in September",
        possible=False,
    ),
    # --- pretix
    Task(
        id="pretix-guest",
        app="pretix",
        kind="multi_page",
        goal=f"Buy one Day ticket for '{CONCERT}' as a guest, to be paid by bank transfer",
        at="/harbour/concert/",
        inputs={"email": "mia@example.org", "name": "Mia Stern"},
        effects=(
            created("order", email="mia@example.org", event="concert", tickets="Day ticket", status="n", places="1"),
        ),
    ),
    Task(
        id="pretix-lost",
        app="pretix",
        kind="lost_answer",
        goal="Buy two supporter tickets for the choir evening as a guest, to be paid by bank transfer",
        at="/harbour/choir/",
        inputs={"email": "noah@example.org", "name": "Noah Stern"},
        effects=(
            created(
                "order",
                email="noah@example.org",
                event="choir",
                tickets="Supporter ticket, Supporter ticket",
                status="n",
                places="2",
            ),
        ),
        trouble=LostAnswer(method="POST", path="/harbour/choir*/checkout/confirm/"),
    ),
    Task(
        id="pretix-cheaper",
        app="pretix",
        kind="compare",
        goal=f"For which of the events '{CONCERT}' and 'Choir evening' is the day ticket cheaper, and by how much? Buy nothing",
        at="/harbour/",
        answer=("Choir evening", "2.50"),
    ),
    # --- Wagtail
    Task(
        id="wagtail-publish",
        app="wagtail",
        kind="multi_page",
        goal="Publish an article 'Harbour opens' with the summary 'The new harbour opens on Monday' under Reports, related to 'News of 2025'",
        at="/admin/",
        **_GAZETTE,
        effects=(
            created(
                "page",
                title="Harbour opens",
                live="1",
                summary="The new harbour opens on Monday",
                related="News of 2025",
                parent="Reports",
            ),
            created("act", action="wagtail.publish", label="Harbour opens"),
        ),
    ),
    Task(
        id="wagtail-summary",
        app="wagtail",
        kind="edit",
        goal="Change the summary of 'Notices of 2024' to 'All notices of the leap year' and publish it",
        at="/admin/",
        **_GAZETTE,
        effects=(
            changed("page", {"title": "Notices of 2024"}, summary="All notices of the leap year"),
            created("act", action="wagtail.publish", label="Notices of 2024"),
        ),
    ),
    Task(
        id="wagtail-ships",
        app="wagtail",
        kind="compare",
        goal="Compare the articles 'Reports of 2024' and 'Reports of 2025': how many more ships and how many fewer storms were counted in 2025?",
        at="/admin/",
        **_GAZETTE,
        answer=("45", "9"),
    ),
    # --- MediaWiki
    Task(
        id="mediawiki-history",
        app="mediawiki",
        kind="append",
        goal=f"Add this paragraph at the end of the page 'Harbour history', and leave the rest as it is: {_HISTORY_NOTE}",
        **_WIKI,
        effects=(changed("page", {"title": "Harbour history"}, text=Appended(_HISTORY_NOTE), revisions="2"),),
    ),
    Task(
        id="mediawiki-fee",
        app="mediawiki",
        kind="long_text",
        goal="By the harbour rules, what does a night cost in December for a catamaran of 11 m on which nobody lives, and after how many nights is one free?",
        answer=("17.25", "ten|10"),
    ),
    Task(
        id="mediawiki-cranes",
        app="mediawiki",
        kind="compare",
        goal="Compare the pages 'Crane North' and 'Crane South': which crane lifts more, by how much, and by how many years is it younger?",
        answer=("South", "13", "17"),
    ),
    # --- Redmine
    Task(
        id="redmine-bug",
        app="redmine",
        kind="date",
        goal="Report a bug 'Gate does not close' in the project Quay with high priority, assigned to Mira Holm and due next Monday",
        **_ISSUES,
        effects=(
            created(
                "issue",
                project="Quay",
                tracker="Bug",
                subject="Gate does not close",
                priority="High",
                assignee="mira",
                due=NextMonday(),
                status="New",
            ),
        ),
    ),
    Task(
        id="redmine-gangway",
        app="redmine",
        kind="edit",
        goal="Set the issue 'Repair the gangway' to Resolved and 100 % done, and log 1.5 hours of development on it",
        **_ISSUES,
        effects=(
            changed("issue", {"subject": "Repair the gangway"}, status="Resolved", done="100"),
            created("time", issue="Repair the gangway", hours="1.5", activity="Development"),
        ),
    ),
    Task(
        id="redmine-jonas",
        app="redmine",
        kind="table",
        goal="List the subject and the due date of all open issues that are assigned to Jonas Bergh, in all projects",
        **_ISSUES,
        outputs=("issues:json",),
        answer=(
            "Bollard 7 is bent",
            "2026-12-04|12/04/2026",
            "Order new fenders",
            "2026-12-11|12/11/2026",
            "Renew the insurance",
            "2027-01-08|01/08/2027",
            "Archive the log of 2024",
            "2026-12-30|12/30/2026",
        ),
    ),
    # --- Trac
    Task(
        id="trac-lost",
        app="trac",
        kind="lost_answer",
        goal="Open a ticket 'Ladder at pier 2 is broken' for the component mooring with the description 'The third rung is missing'",
        effects=(
            created(
                "ticket",
                summary="Ladder at pier 2 is broken",
                component="mooring",
                description="The third rung is missing",
            ),
        ),
        trouble=LostAnswer(method="POST", path="/newticket", body="submit"),
    ),
    Task(
        id="trac-login",
        app="trac",
        kind="ambiguous",
        goal="Close the ticket about the login page as fixed",
        at="/query",
        person="The one about the error after a long pause",
        effects=(
            changed(
                "ticket",
                {"summary": "Login page shows an error after a long pause"},
                "owner",
                status="closed",
                resolution="fixed",
            ),
        ),
        must_ask=True,
    ),
    Task(
        id="trac-fees",
        app="trac",
        kind="download",
        goal="Download the list of fees that is attached to the ticket about October, and tell me the total of the fees and the berth with the highest one",
        at="/query",
        answer=("1376", "B3"),
    ),
    # --- Streamlit
    Task(
        id="streamlit-book",
        app="streamlit",
        kind="date",
        goal="Book berth B3 for the boat 'Fram' for 4 nights, arriving next Monday",
        effects=(created("booking", boat="Fram", berth="B3", arrival=NextMonday(), nights="4"),),
    ),
    Task(
        id="streamlit-free",
        app="streamlit",
        kind="table",
        goal="List all berths that are free, with their length and their price a night",
        outputs=("berths:json",),
        answer=("A1", "14", "B1", "12.5", "23", "B3", "27", "C2", "18", "41"),
    ),
    Task(
        id="streamlit-log",
        app="streamlit",
        kind="upload",
        goal="Upload my log of the harbour master and tell me how many ships and which sum of fees the page shows",
        files=("harbour-log.csv",),
        answer=("5", "235.50"),
    ),
    # --- DokuWiki
    Task(
        id="dokuwiki-cranes",
        app="dokuwiki",
        kind="append",
        goal=f"Add this paragraph at the end of the page about the cranes, and leave the rest as it is: {_CRANE_NOTE}",
        **_PAGES,
        effects=(changed("page", {"name": "cranes.txt"}, text=Appended(_CRANE_NOTE)),),
    ),
    Task(
        id="dokuwiki-plan",
        app="dokuwiki",
        kind="upload",
        goal="Upload my plan of the piers to the wiki's media files",
        files=("piers.txt",),
        **_PAGES,
        effects=(created("media", name="piers.txt", text=Text(("Pier 3: 17 berths",))),),
    ),
    Task(
        id="dokuwiki-account",
        app="dokuwiki",
        kind="impossible",
        goal="Delete the user account of Tomas Lind from this wiki, with my account",
        **_PAGES,
        possible=False,
    ),
    # --- JupyterLab
    Task(
        id="jupyterlab-tonnage",
        app="jupyterlab",
        kind="table",
        goal="Open reports/tonnage.csv and list the ships with more than 500 tonnes, with their calls and tonnes",
        at="/lab",
        outputs=("ships:json",),
        answer=("Dolfin", "13", "521", "Estrella", "20", "618"),
    ),
    Task(
        id="jupyterlab-draft",
        app="jupyterlab",
        kind="ambiguous",
        goal="Delete the draft in reports",
        at="/lab",
        person="The draft of 2024",
        effects=(deleted("file", {"name": "draft-2024.txt"}),),
        must_ask=True,
    ),
    Task(
        id="jupyterlab-notes",
        app="jupyterlab",
        kind="append",
        goal="Add the line '- Grease the winch' at the end of notes.md and save it",
        at="/lab",
        effects=(changed("file", {"path": "notes.md"}, text=Appended("- Grease the winch")),),
    ),
)
