"""Recognises a page of a flow, such as the address in a checkout: a form that leads on, and binds the user to nothing.

An answer 'for this run' to one of them covers the next. So everything that could be more is asked about: a button that says anything
but to go on, words by which going on would bind the user, a name or a value that binds, a box that is ticked, and every value that is
neither what the run typed into this page nor in the document as its server sent it. Addresses and names count as values: a script
could write into them what was typed on another page.

Two kinds of words are told apart. What is sent (address, names, values) may not contain a word for a binding act at all. What the form
only says may: each page of a checkout speaks of the order, shows prices and names ways to pay. There only a sentence counts by which
the button itself would bind: 'by continuing you agree', 'place your order', 'pay now'.
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

from midcourse.domain.argument import Scalar
from midcourse.ports.world import Call
from midcourse.worlds.browser.egress.address import read_origin, read_place
from midcourse.worlds.browser.egress.background import EFFECTS, Background
from midcourse.worlds.browser.egress.request import Request
from midcourse.worlds.browser.page.forms import Form, PageForms

_NEXT = {
    "de": ("weiter", "nächste", "nächster schritt", "fortfahren"),
    "en": ("next", "continue", "next step", "next page"),
    "es": ("siguiente", "continuar", "siguiente paso"),
    "fr": ("suivant", "continuer", "étape suivante"),
    "it": ("avanti", "continua", "successivo"),
    "nl": ("volgende", "doorgaan", "verder", "volgende stap"),
    "pt": ("seguinte", "continuar", "próximo", "próximo passo"),
}
"""What a button that only leads on says, by the language of its page. Nothing may follow but an arrow."""
_ARROWS = " \u00a0›»→>❯"
_BINDS = re.compile(
    r"(?i)(?<![a-z])(?:accept|agree|binding|book|buy|cancel|charg|checkout now|complete|confirm|contract|delet|donat|order|"
    r"paid|pay(?!ment)|place|purchas|remov|reserv|send|sign|submit|subscri|terms|transfer"
    r"|abonn|akzept|bestell|bestätig|bezahl|buch|kauf|kostenpfl|kündig|lösch|verbindlich|vertrag|zahlen|zahlungspfl|zustimm"
    r"|acept|compr|contrat|elimin|pagar|pedido|suscri|términos"
    r"|achet|command|conditions|engage|payer|supprim|valide[rz]"
    r"|abbon|accett|acquist|conferm|ordin|prenot|termini"
    r"|akkoord|bestel|betal|bevestig|boek|koop|kopen|voorwaard"
    r"|aceit|assin|encomend|termos)"
)
"""Matches words for what binds or cannot be undone, in the languages above, in what is sent. Nouns of a checkout are none: a payment."""
_BY_GOING_ON = {
    "de": r"akzept|einverstanden|kündig|lösch|zustimm|\bagb\b|kostenpflicht|zahlungspflicht|verbindlich"
    r"|mit (?:dem |einem )?klick|durch (?:das |den |ein )?(?:klick|absenden|fortfahren)"
    r"|indem sie|(?:ich|sie|wir|hiermit) (?:\w+ )?(?:akzeptier|bestell|bestätig|buch|kauf|stimm|zahl)e?n?\b|stimmen sie|stimme ich"
    r"|(?:jetzt|sofort) (?:bestell|bezahl|buch|kauf|zahl)|bestellung (?:aufgeben|abschicken)",
    "en": r"\bagree(?!ment)|(?<!we )\baccept(?!ed)|\bcancel|\bdelet|\bdonat|\bremov|\bterms\b"
    r"|\bby (?:choos|click|continu|go|press|proceed|select|submit|tapp|us)ing\b"
    r"|(?<!can )(?<!do )(?<!will )(?<!would )\b(?:i|you)(?: also| are| automatically| expressly| hereby| now| shall| will)*(?: be)? (?:acknowledge|authori[sz]e|"
    r"billed|book|buy|charged|commit|confirm|consent|enter into|obliged|order|pay|purchase|subscribe)\b"
    r"|\b(?:are|gets?|is|will)(?: automatically| be| immediately| now| then)* (?:billed|booked|charged|debited|ordered|"
    r"placed|purchased|renewed|submitted)\b"
    r"|\b(?:confirm|place|(?<!will )send|submit)s? (?:an?|my|the|this|your)? ?(?:binding )?(?:booking|order|payment|purchase|reservation)\b"
    r"|\b(?:book|buy|donate|order|pay|reserve|subscribe|transfer) (?:it )?now\b|\bbinding\b|non-?refundable|free trial|obligation to pay",
    "es": r"al (?:continuar|hacer clic|pulsar|seguir|enviar)|\bacept|\belimin|\btérminos\b|(?:comprar|pagar|pedir|reservar) ahora"
    r"|(?:realizar|confirmar|tramitar) (?:el|su|tu) pedido|obligación de pago",
    "fr": r"en (?:cliquant|continuant|poursuivant|validant)|\bconditions générales|\bsupprim"
    r"|(?:j['’]|je |vous )(?:acceptez?|achète|achetez|commandez?|confirmez?|paye?z?)\b"
    r"|(?:acheter|commander|payer|réserver) maintenant|passer (?:la|ma|votre) commande|obligation de pai?e",
    "it": r"\b(?:cliccando|continuando|procedendo|proseguendo)\b|\baccett|\btermini\b"
    r"|(?:acquista|compra|ordina|paga|prenota) (?:adesso|ora|subito)"
    r"|(?:effettua|invia|conferma) l['’]ordine|ordine vincolante|obbligo di pag",
    "nl": r"door (?:door te gaan|op|te (?:drukken|klikken)|verder te)|\bakkoord\b|\bvoorwaarden\b|(?:ik|je|u) (?:bestel|betaal|bevestig|boek|koop)t?\b"
    r"|nu (?:bestellen|betalen|boeken|kopen)|bestelling plaatsen|betalingsverplichting",
    "pt": r"ao (?:clicar|continuar|prosseguir)|\baceit|\btermos\b|(?:comprar|encomendar|pagar|reservar) (?:agora|já)"
    r"|(?:confirmar|finalizar) (?:a |o )?(?:compra|encomenda|pedido)|obrigação de pag",
}
"""Words and sentences by which going on would bind the user, or delete something, by language. They count on every page: many mix languages."""
_SAYS_THAT_IT_BINDS = re.compile("(?i)" + "|".join(_BY_GOING_ON.values()))
_PAYMENT_CHOICE = re.compile(r"(?i)(?:select[_-]?)?payment(?:[_-]?(?:method|mode|option|provider|type))?")
"""Matches the names of the choice of how to pay. One way is called a transfer, which binds the buyer only with the order."""
_CARD = re.compile(
    r"(?i)card|(?:^|[^a-z])cc(?:[^a-z]|$)|cv[cv]2?|csc|expir|iban|bic|account|konto|karte|secur|pin(?:[^a-z]|$)|ssn|tax"
)
_TYPED = frozenset({"date", "email", "month", "number", "search", "tel", "text", "textarea", "time", "url", "week"})
_CHOSEN = frozenset({"radio", "select-one"})
_MOST_VALUES = 40


@dataclass(frozen=True, kw_only=True)
class Served:
    """What a document contained when its server sent it, before any script."""

    actions: set[str] = field(default_factory=set[str])
    sign_ins: set[str] = field(default_factory=set[str])
    """The actions of the forms that ask for a password."""
    names: set[str] = field(default_factory=set[str])
    """Names of fields and buttons."""
    values: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Names and values of fields that are not typed into."""
    metas: dict[str, str] = field(default_factory=dict[str, str])
    """Names and contents of its `meta` elements; of two of the same name the first."""

    @property
    def token(self) -> tuple[str, str]:
        """Name and value of the anti-forgery token that the document has for its scripts, as those of Rails and Yii do."""
        return self.metas.get("csrf-param", ""), self.metas.get("csrf-token", "")

    @classmethod
    def read(cls, source: str) -> "Served":
        reader = _SourceReader()
        reader.feed(source)
        reader.close()
        return reader.found


class _SourceReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found = Served()
        self._select = self._action = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in reversed(attrs)}  # of two of the same name the first counts
        name, value = given.get("name", ""), given.get("value", "")
        if tag == "form":
            self._action = given.get("action", "").strip()
            self.found.actions.add(self._action)
        elif tag == "meta":
            self.found.metas.setdefault(name, given.get("content", ""))
        elif tag == "option":
            self.found.values.add((self._select, value))
        elif tag in ("input", "button", "select", "textarea"):
            self.found.names.add(name)
            self.found.values.add((name, value))
            if given.get("type", "").lower() == "password":
                self.found.sign_ins.add(self._action)
            self._select = name if tag == "select" else self._select


def describe_flow(
    call: Call, request: Request, pages: Sequence[PageForms], background: Background, url: str, served: Served
) -> str:
    """Describe the forms that one answer covers together with this one, or return an empty string if it is not one that leads on."""
    parts = urlsplit(request.url)
    folder = parts.path.rstrip("/").rpartition("/")[0] + "/"
    origin = read_origin(request.url)
    by_page = request.is_navigation and request.fields.get("origin") == origin and origin == read_origin(url)
    if request.method != "POST" or not by_page or request.method_override or request.redirected_from:
        return ""
    if (
        parts.query
        or not folder.strip("/")
        or EFFECTS.search(parts.path)
        or _BINDS.search(parts.path.replace("/", " "))
    ):
        return ""
    if call.skill != "click" or call.pictured or call.target.role != "button" or request.commit.abridged:
        return ""
    own = [page for page in pages if read_place(page.url) == read_place(url)]
    forms = [(page, form) for page in own for form in page.forms if read_place(form.action) == read_place(request.url)]
    if len(forms) != 1:
        return ""
    page, form = forms[0]
    label = call.target.label.casefold().rstrip(_ARROWS)
    if label not in _NEXT.get(page.language or "en", ()) or not form.text or _SAYS_THAT_IT_BINDS.search(form.text):
        return ""
    if not any(urljoin(url, action) == request.url for action in served.actions):
        return ""
    chosen = {(said.name, said.value) for said in page.words if said.how == "entered"}
    if not _leads_on(form, request.commit.values, background.find_typed(url), chosen, served):
        return ""
    return (
        f"the forms that follow it, sent to addresses below {origin}{folder} by a button that says to go on: with what this run types into "
        "them or chooses, and what its server put there. Pages that show prices or ask how to pay are included. No password, card number, "
        "file or ticked box, and no button, address or sentence that says to order, pay or confirm"
    )


def _leads_on(
    form: Form,
    values: Sequence[tuple[str, Scalar]],
    typed: frozenset[str],
    chosen: Set[tuple[str, str]],
    served: Served,
) -> bool:
    """Whether a form sends what the run has filled in, and otherwise only what the site put there.

    A password field may stay empty, as beside 'Continue as a guest'. What was typed into one could be moved into another field.
    """
    if len(values) > _MOST_VALUES or any(
        field.type == "file" or (field.type == "password" and field.value) for field in form.fields
    ):
        return False
    filled = 0
    for name, sent in values:
        value = str(sent)
        fields = [field for field in form.fields if field.name == name]
        kinds = {field.type for field in fields}
        if name not in served.names or not kinds or _CARD.search(name) or _is_card_number(value) or _names_effect(name):
            return False
        if kinds <= _TYPED:
            if value and value not in typed:
                return False
            filled += bool(value)
            continue
        to_pay = kinds <= _CHOSEN and _PAYMENT_CHOICE.fullmatch(name) is not None
        says = re.sub("(?i)transfer", "", value) if to_pay else value
        of_site = (kinds <= _CHOSEN or kinds in ({"hidden"}, {"submit"})) and (name, value) in served.values
        if not of_site or _names_effect(says):
            return False
        # Many shops choose the only way to pay themselves. A page that asks for one is not the last one.
        filled += kinds <= _CHOSEN and ((name, value) in chosen or to_pay)
    return filled > 0


def _names_effect(text: str) -> bool:
    return bool(EFFECTS.search(f"_{text}") or _BINDS.search(text.replace("_", " ").replace("-", " ")))


def _is_card_number(value: str) -> bool:
    digits = re.sub(r"[\s.-]", "", value)
    if not re.fullmatch(r"\d{13,19}", digits):
        return False
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(each - 9 if each > 9 else each for each in doubled) % 10 == 0
