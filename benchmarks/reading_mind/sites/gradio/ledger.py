"""A ledger: it evaluates a CSV file, and takes claims, which it writes to a file."""

import csv
import json
import os
import tempfile
from pathlib import Path

import gradio

DATA = Path(os.environ["LEDGER_DATA"])


def evaluate(file, column, statistic, start):
    with open(file, encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["date"] >= (start or "")]
    values = [float(row[column]) for row in rows]
    value = {"sum": sum(values), "mean": sum(values) / max(1, len(values)), "max": max(values, default=0.0)}[statistic]
    report = Path(tempfile.mkdtemp()) / "report.csv"
    report.write_text(
        f"column,statistic,rows,value,checksum\n{column},{statistic},{len(values)},{value:.2f},{int(value * 100) % 9973}\n",
        encoding="utf-8",
    )
    return f"{statistic} of {column} over {len(values)} rows: see the report", str(report)


def claim(purpose, amount, category, receipt):
    if not (purpose and amount and category and receipt):
        raise gradio.Error("Fill in all fields and add the receipt.")
    kept = {"purpose": purpose, "amount": f"{amount:.2f}", "category": category, "receipt": Path(receipt).read_text()}
    with (DATA / "claims.jsonl").open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(kept) + "\n")
    number = len((DATA / "claims.jsonl").read_text().splitlines())
    return f"Claim {4100 + number * 7} was filed."


with gradio.Blocks(title="Ledger") as page:
    with gradio.Tab("Welcome"):
        gradio.Markdown("# Ledger\nEvaluate files, or claim your expenses.")
    with gradio.Tab("Evaluate"):
        fields = [
            gradio.File(label="CSV file", type="filepath"),
            gradio.Dropdown(["amount", "quantity"], label="Column"),
            gradio.Radio(["sum", "mean", "max"], label="Statistic"),
            gradio.Textbox(label="From date (YYYY-MM-DD)"),
        ]
        run = gradio.Button("Evaluate")
        run.click(evaluate, fields, [gradio.Textbox(label="Result"), gradio.File(label="Report")])
    with gradio.Tab("Claim"):
        fields = [
            gradio.Textbox(label="Purpose"),
            gradio.Number(label="Amount in EUR", value=None),
            gradio.Dropdown(["Travel", "Meals", "Material", "Fees"], label="Category", value=None),
            gradio.File(label="Receipt", type="filepath"),
        ]
        send = gradio.Button("File the claim")
        send.click(claim, fields, gradio.Textbox(label="Confirmation"))

page.launch(server_name="127.0.0.1", server_port=int(os.environ["LEDGER_PORT"]), quiet=True)
