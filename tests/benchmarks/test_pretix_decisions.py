"""What the scripted model does on pages of pretix, recorded as accessibility snapshots."""

from benchmarks.llm.decisions import BUY, LISTED, Move, Page, Policy
from benchmarks.llm.pretix_decisions import CUSTOMER, SHOP, SIGN_IN, decide_in_pretix
from benchmarks.peer_systems.snapshots import read_snapshot

CONFIRM = f"{SHOP}checkout/confirm/"
SIGNED_IN = '- link "Log out" [ref=e1] [cursor=pointer]\n'
REVIEW = SIGNED_IN + '- link "Go back" [ref=e2]\n- button "Place binding order" [ref=e3] [cursor=pointer]\n'
WAITS = REVIEW + '- dialog "Please hang tight, we\'re finalizing your order!" [active] [ref=e4]:\n'
EMPTY = (
    SIGNED_IN
    + '- paragraph [ref=e2]:\n  - generic [ref=e3]: "Error:"\n  - text: Your cart is empty\n- button "Add to cart" [ref=e4]\n'
)


def decide(path: str, snapshot: str, policy: Policy = "trusting", finished: str = "") -> list[Move]:
    page = Page(address=f"http://127.0.0.1:8000{path}", finished=finished)
    read_snapshot(snapshot, page)
    return decide_in_pretix(policy, page)


def test_it_signs_in_with_the_button_of_the_form_not_with_that_of_the_header() -> None:
    moves = decide(
        SIGN_IN,
        '- button "Log in" [ref=e1]\n- textbox "Email required" [ref=e2]\n- textbox "Password required" [ref=e3]\n- button "Log in" [ref=e4]\n',
    )
    assert [(move.kind, move.element and move.element.id) for move in moves] == [
        ("type", "e2"),
        ("type", "e3"),
        ("click", "e4"),
    ]
    assert moves[0].value == CUSTOMER


def test_it_signs_in_before_it_adds_anything_to_the_cart() -> None:
    (move,) = decide(SHOP, '- button "Log in" [ref=e1]\n- button "Add to cart" [ref=e2]\n')
    assert (move.kind, move.value) == ("navigate", SIGN_IN)


def test_it_orders_once_and_waits_while_the_shop_is_working() -> None:
    (order,) = decide(CONFIRM, REVIEW)
    assert (order.kind, order.says, order.final) == ("click", BUY, True)
    (wait,) = decide(CONFIRM, WAITS)
    assert wait.kind == "wait"


def test_with_an_empty_cart_the_trusting_model_begins_again_and_the_careful_one_looks_at_the_orders() -> None:
    (again,) = decide(CONFIRM, EMPTY)
    assert again.element is not None
    assert again.element.name == "Add to cart"
    (look,) = decide(CONFIRM, EMPTY, "careful")
    assert (look.kind, look.value) == ("navigate", LISTED[BUY][0])


def test_it_looks_at_the_orders_if_the_prompt_lists_the_order_as_finished() -> None:
    (look,) = decide(SHOP, EMPTY, finished=BUY)
    assert look.value == LISTED[BUY][0]


def test_it_is_done_if_the_account_lists_an_order_for_the_event() -> None:
    address, event = LISTED[BUY]
    (done,) = decide(address, SIGNED_IN + f"- paragraph [ref=e2]: {event}\n")
    assert done.kind == "done"
    (back,) = decide(address, SIGNED_IN + "- paragraph [ref=e2]: You don’t have any orders in your account yet.\n")
    assert (back.kind, back.value) == ("navigate", SHOP)
