"""Search attributes for Temporal's lists of workflows. Every change costs history, so there are few."""

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey
from temporalio.service import RPCError, RPCStatusCode

from midcourse.domain.commands import AskPerson, Record
from midcourse.domain.phases import Asking, Ended, Paused
from midcourse.domain.run import Run
from midcourse.errors import FleetUnavailable

STATUS = SearchAttributeKey.for_keyword("MidcourseStatus")
WORLD = SearchAttributeKey.for_keyword("MidcourseWorld")
TENANT = SearchAttributeKey.for_keyword("MidcourseTenant")
FINAL_REASON = SearchAttributeKey.for_keyword("MidcourseFinalReason")


def derive_status(run: Run) -> str:
    """Return the status: running, asking, paused or ended. A run is asking once its question was sent, and paused once that is stored."""
    settled = not any(isinstance(issued.command, AskPerson | Record) for issued in run.pending)
    match run.phase:
        case Asking() if settled:
            return "asking"
        case Paused() if settled:
            return "paused"
        case Ended():
            return "ended"
        case _:
            return "running"


ALL = (STATUS, WORLD, TENANT, FINAL_REASON)
NOT_OURS = (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED)
"""The answers of a server where clients may not register attributes, such as Temporal Cloud."""


async def register(client: Client) -> None:
    """Register the attributes that the namespace lacks.

    Raise `FleetUnavailable` if only an administrator may register them.
    """
    service, namespace = client.operator_service, client.namespace
    try:
        known = await service.list_search_attributes(ListSearchAttributesRequest(namespace=namespace))
    except RPCError as error:
        if error.status not in NOT_OURS:
            raise
        await _check_registered(client)
        return
    missing = [key.name for key in ALL if key.name not in known.custom_attributes]
    if not missing:
        return
    attributes = dict.fromkeys(missing, IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD)
    try:
        await service.add_search_attributes(
            AddSearchAttributesRequest(namespace=namespace, search_attributes=attributes)
        )
    except RPCError as error:
        if error.status in NOT_OURS:
            raise FleetUnavailable(_say_missing(namespace)) from error
        if error.status != RPCStatusCode.ALREADY_EXISTS:  # another process was faster
            raise


async def _check_registered(client: Client) -> None:
    """Raise `FleetUnavailable` if an attribute is missing: a query, which any client may make, is then refused."""
    query = " AND ".join(f"{key.name} = ''" for key in ALL)
    try:
        await client.count_workflows(query)
    except RPCError as error:
        if error.status != RPCStatusCode.INVALID_ARGUMENT:
            raise
        raise FleetUnavailable(_say_missing(client.namespace)) from error


def _say_missing(namespace: str) -> str:
    names = ", ".join(key.name for key in ALL)
    return f"Temporal's namespace '{namespace}' lacks search attributes that only its administrator can add: {names}, all of type Keyword"
