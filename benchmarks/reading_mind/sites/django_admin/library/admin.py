from django.contrib import admin

from library.models import Author, Book, Loan, Subject


class LoansOfBook(admin.TabularInline):
    model = Loan
    extra = 0


@admin.register(Author)
class AuthorAdmin(admin.ModelAdmin):
    search_fields = ("name",)


@admin.register(Book)
class BookAdmin(admin.ModelAdmin):
    autocomplete_fields = ("author",)
    filter_horizontal = ("subjects",)
    list_display = ("title", "author", "published", "price", "in_print")
    list_filter = ("in_print", "subjects")
    search_fields = ("title", "author__name")
    inlines = (LoansOfBook,)
    date_hierarchy = "published"
    list_per_page = 25
    save_on_top = True
    fieldsets = (
        (None, {"fields": ("title", "author", "isbn", "published", "price")}),
        ("More", {"classes": ["collapse"], "fields": ("subjects", "cover", "in_print", "notes")}),
    )


admin.site.register(Subject)
