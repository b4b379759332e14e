"""Probes of writing tools: whether a call had its effect, found out with the reading tools of the same domain.

A probe gets the arguments of the call. It knows neither how the database was before the call nor what the call returned. This file imports
nothing of the project: arms in other environments use it, too.
"""

from collections.abc import Callable
from typing import Any, Protocol


class Client(Protocol):
    def call(self, tool: str, arguments: dict[str, Any]) -> Any: ...


Probe = Callable[[Client, dict[str, Any]], bool]


def is_booked(client: Client, given: dict[str, Any]) -> bool:
    """Whether the user has a reservation with everything that was ordered."""
    held = client.call("get_user_details", {"user_id": given["user_id"]})["reservations"]
    return any(_is_ordered(_reservation(client, each), given) for each in held)


def _is_ordered(found: dict[str, Any], given: dict[str, Any]) -> bool:
    same = ("origin", "destination", "flight_type", "cabin", "passengers", "total_baggages", "nonfree_baggages")
    return (
        all(found[name] == given[name] for name in (*same, "insurance"))
        and _flights(found) == _flights(given)
        and found["payment_history"] == given["payment_methods"]
    )


def is_cancelled(client: Client, given: dict[str, Any]) -> bool:
    return _reservation(client, given["reservation_id"])["status"] == "cancelled"


def has_certificate(client: Client, given: dict[str, Any]) -> bool:
    owned = client.call("get_user_details", {"user_id": given["user_id"]})["payment_methods"].values()
    return any(one["source"] == "certificate" and one["amount"] == given["amount"] for one in owned)


def has_baggage(client: Client, given: dict[str, Any]) -> bool:
    found = _reservation(client, given["reservation_id"])
    return all(found[name] == given[name] for name in ("total_baggages", "nonfree_baggages"))


def has_flights(client: Client, given: dict[str, Any]) -> bool:
    found = _reservation(client, given["reservation_id"])
    return found["cabin"] == given["cabin"] and _flights(found) == _flights(given)


def has_passengers(client: Client, given: dict[str, Any]) -> bool:
    return _reservation(client, given["reservation_id"])["passengers"] == given["passengers"]


def _reservation(client: Client, number: str) -> dict[str, Any]:
    return client.call("get_reservation_details", {"reservation_id": number})


def _flights(booking: dict[str, Any]) -> list[tuple[str, str]]:
    return [(flight["flight_number"], flight["date"]) for flight in booking["flights"]]


def is_placed(client: Client, given: dict[str, Any]) -> bool:
    """Whether an open order has these values. BFCL's list of orders also has entries that are not orders."""
    listed = client.call("get_order_history", {})["history"]
    found = (client.call("get_order_details", {"order_id": number}) for number in listed)
    orders = (order for order in found if isinstance(order, dict))
    return any(order["status"] == "Open" and given.items() <= order.items() for order in orders)


def is_order_cancelled(client: Client, given: dict[str, Any]) -> bool:
    return client.call("get_order_details", given)["status"] == "Cancelled"


def is_deposited(client: Client, given: dict[str, Any]) -> bool:
    return _is_booked_as("deposit", client, given)


def is_withdrawn(client: Client, given: dict[str, Any]) -> bool:
    return _is_booked_as("withdrawal", client, given)


def _is_booked_as(kind: str, client: Client, given: dict[str, Any]) -> bool:
    booked = client.call("get_transaction_history", {})["transaction_history"]
    return any(one["type"] == kind and one["amount"] == given["amount"] for one in booked)


def is_watched(client: Client, given: dict[str, Any]) -> bool:
    return given["stock"] in client.call("get_watchlist", {})["watchlist"]


def is_not_watched(client: Client, given: dict[str, Any]) -> bool:
    return given["symbol"] not in client.call("get_watchlist", {})["watchlist"]


def has_ticket(client: Client, given: dict[str, Any]) -> bool:
    return any(given.items() <= ticket.items() for ticket in client.call("get_user_tickets", {}))


def is_closed(client: Client, given: dict[str, Any]) -> bool:
    return client.call("get_ticket", {"ticket_id": given["ticket_id"]})["status"] == "Closed"


def is_resolved(client: Client, given: dict[str, Any]) -> bool:
    ticket = client.call("get_ticket", {"ticket_id": given["ticket_id"]})
    return ticket["status"] == "Resolved" and ticket["resolution"] == given["resolution"]


def is_edited(client: Client, given: dict[str, Any]) -> bool:
    ticket = client.call("get_ticket", {"ticket_id": given["ticket_id"]})
    return all(ticket[name] == value for name, value in given["updates"].items() if value is not None)


def is_sent(client: Client, given: dict[str, Any]) -> bool:
    sent = client.call("view_messages_sent", {})["messages"]
    return given["message"] in sent.get(given["receiver_id"], ())


PROBES: dict[str, Probe] = {
    "book_reservation": is_booked,
    "cancel_reservation": is_cancelled,
    "send_certificate": has_certificate,
    "update_reservation_baggages": has_baggage,
    "update_reservation_flights": has_flights,
    "update_reservation_passengers": has_passengers,
    "place_order": is_placed,
    "cancel_order": is_order_cancelled,
    "fund_account": is_deposited,
    "withdraw_funds": is_withdrawn,
    "add_to_watchlist": is_watched,
    "remove_stock_from_watchlist": is_not_watched,
    "create_ticket": has_ticket,
    "close_ticket": is_closed,
    "resolve_ticket": is_resolved,
    "edit_ticket": is_edited,
    "send_message": is_sent,
}
"""`delete_message` has none: no tool tells which message was deleted. Logging in and out is harmless twice, and needs none."""
HARMLESS_TWICE = ("logout", "message_login", "ticket_login", "trading_login", "trading_logout")
