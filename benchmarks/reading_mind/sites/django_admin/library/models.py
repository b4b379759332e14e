"""A library: books with an author, subjects, a cover and notes, and the loans of each."""

from django.db import models


class Author(models.Model):
    name = models.CharField(max_length=100)

    def __str__(self):
        return self.name


class Subject(models.Model):
    name = models.CharField(max_length=50)

    def __str__(self):
        return self.name


class Book(models.Model):
    title = models.CharField(max_length=200)
    author = models.ForeignKey(Author, models.CASCADE)
    isbn = models.CharField(max_length=20, blank=True)
    published = models.DateField(null=True, blank=True)
    price = models.DecimalField(max_digits=7, decimal_places=2, default=0)
    subjects = models.ManyToManyField(Subject, blank=True)
    cover = models.FileField(upload_to="covers", blank=True)
    in_print = models.BooleanField(default=True)
    notes = models.TextField(blank=True)

    def __str__(self):
        return self.title


class Loan(models.Model):
    book = models.ForeignKey(Book, models.CASCADE)
    member = models.CharField(max_length=80)
    due = models.DateTimeField(null=True, blank=True)

    def __str__(self):
        return f"{self.member}: {self.book}"
