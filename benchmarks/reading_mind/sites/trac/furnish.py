"""Makes a project with tickets, two of them alike, and a list of fees attached to one."""

import io
import sys

from trac.attachment import Attachment
from trac.env import Environment
from trac.ticket.model import Component, Ticket
from trac.util.datefmt import to_datetime

env = Environment(sys.argv[1])
for name in ("mooring", "website", "crane"):
    component = Component(env)
    component.name = name
    component.insert()
TICKETS = (
    (
        "Login page shows an error after a long pause",
        "website",
        "The session ends after ten minutes (timeout), then: error 500.",
    ),
    ("Crane 2 squeaks", "crane", "Since Tuesday, when it turns left."),
    ("Fees of October", "mooring", "The list of fees is attached. It was exported on the first of November."),
    ("Ring at pier 4 is loose", "mooring", "Two bolts are missing."),
    ("Login page shows the wrong language", "website", "It is English although the browser asks for German."),
    ("Timetable is out of date", "website", "Still the one of summer."),
)
for number, (summary, component, description) in enumerate(TICKETS, start=1):
    ticket = Ticket(env)
    ticket["summary"], ticket["component"], ticket["description"] = summary, component, description
    ticket["reporter"], ticket["status"], ticket["type"], ticket["priority"] = "kim", "new", "defect", "major"
    ticket.insert(when=to_datetime(1_790_000_000 + number * 86_400))
FEES = "berth,days,fee\nA1,12,168.00\nB1,9,207.00\nB3,31,837.00\nC2,4,164.00\n"
attachment = Attachment(env, "ticket", 3)
attachment.author, attachment.description = "kim", "fees"
attachment.insert("fees-october.csv", io.BytesIO(FEES.encode()), len(FEES))
