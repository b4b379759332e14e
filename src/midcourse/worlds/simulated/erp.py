"""An ERP client: log in, open the invoices, book one. It books every valid invoice, even the same one twice."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import ClassVar, Literal, TypeAlias, Unpack, get_args

from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Pairs, Scalar
from midcourse.domain.observation import Zone
from midcourse.domain.outcome import Outcome
from midcourse.worlds.base import Scene, failed, not_sent, probe, skill
from midcourse.worlds.simulated.base import Overlay, SimulatedWorld, Simulation
from midcourse.worlds.simulated.faults import Special

USERNAME = "ada"
PASSWORD = "lovelace"
ADDRESS = "erp://invoices/new"
MOST_LISTED = 20

Page: TypeAlias = Literal["desktop", "login", "menu", "invoices", "new_invoice", "booked"]
_TITLES: dict[Page, str] = {
    "desktop": "Desktop",
    "login": "ERP login",
    "menu": "ERP",
    "invoices": "Invoices",
    "new_invoice": "New invoice",
    "booked": "Invoice booked",
}
Field: TypeAlias = Literal["supplier", "number", "amount", "date", "cost_centre"]
FIELDS: tuple[Field, ...] = get_args(Field)
_LABELS: dict[Field, str] = {
    "supplier": "Supplier",
    "number": "Invoice number",
    "amount": "Amount",
    "date": "Date",
    "cost_centre": "Cost centre",
}
_NUMBER = re.compile(r"[A-Z]{2,5}-\d{3,8}")
_COST_CENTRE = re.compile(r"\d{4}")
_AMOUNT = re.compile(r"\d{1,9}(\.\d{1,2})?")


@dataclass(frozen=True, kw_only=True)
class ErpState:
    page: Page = "desktop"
    user: str = ""
    """The user who is logged in."""
    username: str = ""
    password: str = ""
    form: Pairs = ()
    """The values in the form of a new invoice."""
    errors: tuple[tuple[str, str], ...] = ()
    """Error messages by field."""
    alert: str = ""
    booked: str = ""
    """The document number on the confirmation page."""
    booked_as: str = ""


class Erp(SimulatedWorld[ErpState]):
    """A simulated ERP client: log in, open the invoices, book one. It books every valid invoice, even the same one twice."""

    name = "erp"
    stores = ("submit",)
    special: ClassVar[Special] = {"expired": ()}
    popup = Overlay(
        kind="popup", title="System message", text="The system will be down for maintenance on Sunday.", button="OK"
    )
    error = Overlay(
        kind="error", title="ERP error", text="The ERP server did not answer, please try again.", button="OK"
    )

    def __init__(self, *, username: str = USERNAME, password: str = PASSWORD, **simulation: Unpack[Simulation]) -> None:
        """`username` and `password` are the ones that the ERP knows."""
        super().__init__(ErpState(), **simulation)
        self._known = (username, password)
        self._documents = 0

    @skill(transition=True)
    def double_click(self, zone: Zone) -> Outcome | None:
        """Double-click an icon to start its program."""
        if zone.id != "icon_erp":
            return failed("wrong_target", f"{zone.role} '{zone.label}' starts nothing")
        self.state = ErpState(page="login")
        return None

    @skill
    def fill(self, zone: Zone, text: str) -> Outcome | None:
        """Write this into a field, in place of what is there."""
        match zone.id:
            case "field_username":
                self.state = replace(self.state, username=text, alert="")
            case "field_password":
                self.state = replace(self.state, password=text, alert="")
            case _:
                return self._enter(zone, text)
        return None

    @skill
    def fill_amount(self, zone: Zone, amount: float) -> Outcome | None:
        """Write an amount of money into a field, in place of what is there."""
        return self._enter(zone, amount)

    @skill(effect="irreversible", transition=True, commit_set="invoice_form")
    def submit(self, zone: Zone) -> Outcome | None:
        """Press 'Submit': book the invoice on the form."""
        if zone.id != "submit":
            return not_sent("wrong_target", f"{zone.role} '{zone.label}' books nothing")
        form = dict(self.state.form)
        errors = tuple((name, wrong) for name in FIELDS if (wrong := _find_error(name, form.get(name))))
        if errors:
            alert = "Not booked: " + "; ".join(wrong for _, wrong in errors)
            self.state = replace(self.state, errors=errors, alert=alert)
            return None
        self._documents += 1
        document = f"D-{self.draw_hex(len(self.effects), self._documents)}"
        amount = float(form["amount"] or 0)
        self.store("invoice", document=document, **{**form, "amount": amount})
        booked_as = str(form["number"])
        self.state = ErpState(page="booked", user=self.state.user, booked=document, booked_as=booked_as)
        return None

    def invoice_form(self, zone: Zone) -> CommitSet | None:
        """Every field of the form, the hidden ledger included."""
        if zone.id != "submit":
            return None
        form = dict(self.state.form)
        fields: Pairs = tuple((name, form.get(name)) for name in FIELDS)
        return CommitSet(values=(*fields, ("ledger", "payables")), address=ADDRESS)

    @skill(effect="read")
    def read_document(self, zone: Zone) -> Mapping[str, Scalar] | Outcome:
        """Read the document number of an invoice, on its own page or in the list."""
        if zone.role != "invoice":
            return failed("wrong_target", f"{zone.role} '{zone.label}' is not an invoice")
        return {"document": zone.get("document")}

    @probe
    def invoice_booked(self, number: str) -> bool:
        """Whether an invoice of this number is booked."""
        return any(invoice.get("number") == number for invoice in self.happened("invoice"))

    def clicked(self, zone: Zone) -> Outcome | None:
        match self.state.page, zone.id:
            case "login", "log_in":
                self._log_in()
            case "menu", "menu_invoices":
                self._show("invoices")
            case "invoices" | "booked", "new_invoice":
                self._show("new_invoice")
            case "invoices", "main_menu":
                self._show("menu")
            case "booked", "menu_invoices":
                self._show("invoices")
            case "new_invoice", "cancel":
                self._show("invoices")
            case "new_invoice", "submit":
                return failed("wrong_skill", "'Submit' is pressed with submit")
            case _:
                pass
        return None

    def without_dialog(self) -> ErpState | None:
        """The form of a new invoice is a dialog; closing it discards what was entered."""
        return ErpState(page="invoices", user=self.state.user) if self.state.page == "new_invoice" else None

    def logged_out(self) -> ErpState | None:
        return ErpState(page="login") if self.state.user else None

    def scene(self) -> Scene:
        page = self.state.page
        origin = "" if page == "desktop" else "erp://"
        return Scene(_TITLES[page], *self._build_zones(), address=f"{origin}{page}" if origin else "", origin=origin)

    def _build_zones(self) -> tuple[Zone, ...]:
        match self.state.page:
            case "desktop":
                return (
                    Zone(id="icon_erp", role="icon", label="ERP"),
                    Zone(id="icon_bin", role="icon", label="Recycle Bin"),
                )
            case "login":
                return self._build_login()
            case "menu":
                names = ("Invoices", "Suppliers", "Ledger")
                return tuple(Zone(id=f"menu_{name.lower()}", role="menu", label=name) for name in names)
            case "invoices":
                booked = self.happened("invoice")[-MOST_LISTED:]
                return (
                    Zone(id="new_invoice", role="button", label="New invoice"),
                    *(
                        _build_row(effect.get("document"), effect.get("number"), effect.get("amount"))
                        for effect in booked
                    ),
                    Zone(id="main_menu", role="button", label="Main menu"),
                )
            case "new_invoice":
                return self._build_form()
            case "booked":
                return (
                    _build_row(self.state.booked, self.state.booked_as),
                    Zone(id="new_invoice", role="button", label="New invoice"),
                    Zone(id="menu_invoices", role="menu", label="Invoices"),
                )

    def _build_login(self) -> tuple[Zone, ...]:
        state = self.state
        return (
            *self._build_alert(),
            _build_login_field("username", "User", state.username),
            _build_login_field("password", "Password", "•" * len(state.password)),
            Zone(id="log_in", role="button", label="Log in"),
        )

    def _build_form(self) -> tuple[Zone, ...]:
        form, errors = dict(self.state.form), dict(self.state.errors)
        return (
            *self._build_alert(),
            *(
                Zone(
                    id=f"field_{name}",
                    role="textbox",
                    label=_LABELS[name],
                    state=(("value", form.get(name, "")), ("error", errors.get(name, ""))),
                )
                for name in FIELDS
            ),
            Zone(id="submit", role="button", label="Submit"),
            Zone(id="cancel", role="button", label="Cancel"),
        )

    def _build_alert(self) -> tuple[Zone, ...]:
        return (Zone(id="alert", role="alert", label=self.state.alert),) if self.state.alert else ()

    def _show(self, page: Page) -> None:
        self.state = ErpState(page=page, user=self.state.user)

    def _log_in(self) -> None:
        state = self.state
        if (state.username, state.password) == self._known:
            self.state = ErpState(page="menu", user=state.username)
        else:
            self.state = ErpState(page="login", username=state.username, alert="Unknown user or wrong password.")

    def _enter(self, zone: Zone, value: Scalar) -> Outcome | None:
        """Enter a value in the form, and clear its errors, so that they are not evidence about the next try."""
        name = zone.id.removeprefix("field_")
        if name not in FIELDS:
            return failed("wrong_target", f"nothing can be written into {zone.role} '{zone.label}'")
        form = {**dict(self.state.form), name: value}
        self.state = replace(self.state, form=tuple(form.items()), errors=(), alert="")
        return None


def _build_login_field(name: str, label: str, shown: str) -> Zone:
    return Zone(id=f"field_{name}", role="textbox", label=label, state=(("value", shown), ("filled", bool(shown))))


def _find_error(field: Field, value: Scalar) -> str:
    """The error message for this field, or an empty string."""
    text = "" if value is None else str(value).strip()
    match field:
        case "supplier":
            return "" if text else "a supplier is missing"
        case "number":
            return "" if _NUMBER.fullmatch(text) else "the invoice number must be like INV-1001"
        case "amount":
            sound = _AMOUNT.fullmatch(text) and float(text) > 0
            return "" if sound else "the amount must be more than 0, with two decimals at most"
        case "date":
            return "" if _is_date(text) else "the date must be like 2026-03-31"
        case "cost_centre":
            return "" if _COST_CENTRE.fullmatch(text) else "the cost centre must have four digits"


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _build_row(document: str, number: str, amount: Scalar = None) -> Zone:
    state: Pairs = (("document", document), *((("amount", amount),) if amount is not None else ()))
    return Zone(id=f"invoice_{document}", role="invoice", label=f"Invoice {number}", state=state)
