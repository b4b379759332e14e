"""Berths of a harbour: a table of them, bookings, which are written to a file, and the evaluation of a log."""

import csv
import io
import json
import os
from pathlib import Path

import streamlit

DATA = Path(os.environ["BERTHS_DATA"])
BERTHS = [
    ("A1", 8.0, 14, "free"), ("A2", 8.0, 14, "taken"), ("B1", 12.5, 23, "free"), ("B2", 12.5, 23, "taken"),
    ("B3", 14.0, 27, "free"), ("C1", 18.0, 41, "taken"), ("C2", 18.0, 41, "free"), ("D1", 24.0, 66, "taken"),
]  # fmt: skip

streamlit.set_page_config(page_title="Harbour berths")
streamlit.title("Harbour berths")
berths, booking, log = streamlit.tabs(["Berths", "Book", "Log"])
with berths:
    streamlit.table(
        {
            "Berth": [b[0] for b in BERTHS],
            "Length in m": [b[1] for b in BERTHS],
            "EUR a night": [b[2] for b in BERTHS],
            "State": [b[3] for b in BERTHS],
        }
    )
with booking, streamlit.form("book", clear_on_submit=True):
    boat = streamlit.text_input("Boat")
    berth = streamlit.selectbox("Berth", [b[0] for b in BERTHS if b[3] == "free"], index=None)
    arrival = streamlit.date_input("Arrival", value="today", format="YYYY-MM-DD")
    nights = streamlit.number_input("Nights", min_value=1, max_value=30, value=1)
    if streamlit.form_submit_button("Book it"):
        if boat and berth:
            kept = {"boat": boat, "berth": berth, "arrival": str(arrival), "nights": str(nights)}
            with (DATA / "bookings.jsonl").open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(kept) + "\n")
            streamlit.success(f"{boat} has berth {berth} from {arrival}.")
        else:
            streamlit.error("Name the boat and choose a berth.")
with log:
    file = streamlit.file_uploader("Log of the harbour master (CSV)", type="csv")
    if file:
        rows = list(csv.DictReader(io.StringIO(file.getvalue().decode())))
        streamlit.metric("Ships", len({row["ship"] for row in rows}))
        streamlit.metric("Fees in EUR", f"{sum(float(row['fee']) for row in rows):.2f}")
