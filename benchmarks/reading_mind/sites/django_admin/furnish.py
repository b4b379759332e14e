"""Makes what is there before a task: a librarian, and sixty books of twelve authors."""
# ruff: noqa: E402

import sys
from datetime import date, timedelta
from decimal import Decimal

import django

django.setup()

from django.contrib.auth import get_user_model
from django.core.management import call_command
from library.models import Author, Book, Loan, Subject

USER, PASSWORD = sys.argv[1:]
AUTHORS = (
    "Ada Byron", "Mira Holm", "Jonas Bergh", "Ines Duarte", "Tomas Lind", "Greta Moor",
    "Paul Okafor", "Lena Fischer", "Sofia Marin", "Henrik Dahl", "Nadia Petrov", "Oskar Weiss",
)  # fmt: skip
FIRST = ("Salt", "Glass", "Winter", "Copper", "Silent", "River", "Paper", "Harbour", "Night", "Stone")
SECOND = ("Road", "Garden", "Letters", "Bridge", "Tide", "Machine")

call_command("migrate", "--run-syncdb", "--verbosity", "0")
get_user_model().objects.create_superuser(USER, f"{USER}@example.org", PASSWORD)
subjects = [Subject.objects.create(name=name) for name in ("Art", "History", "Science", "Travel", "Poetry", "Children")]
authors = [Author.objects.create(name=name) for name in AUTHORS]
for number in range(60):
    book = Book.objects.create(
        title=f"The {FIRST[number % 10]} {SECOND[number // 10]}",
        author=authors[number * 7 % 12],
        isbn=f"978-0-00-{number:06d}",
        published=date(2001, 3, 5) + timedelta(days=number * 139),
        price=Decimal("9.90") + Decimal("1.35") * (number * 11 % 23),
        in_print=number % 7 != 3,
        notes="Shelved by the entrance." if number % 5 == 0 else "",
    )
    book.subjects.add(subjects[number % 6], subjects[number * 5 % 6])
Loan.objects.create(book=Book.objects.get(title="The Glass Bridge"), member="Kim Sato")
