"""Search attributes for Temporal's lists of workflows. Every change costs history, so there are few."""

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey
from temporalio.service import RPCError, RPCStatusCode

from midcourse.domain.command import AskPerson, Record
from midcourse.domain.phase import Asking, Ended, Paused
from midcourse.domain.run import Run

STATUS = SearchAttributeKey.for_keyword("MidcourseStatus")
WORLD = SearchAttributeKey.for_keyword("MidcourseWorld")
TENANT = SearchAttributeKey.for_keyword("MidcourseTenant")
FINAL_REASON = SearchAttributeKey.for_keyword("MidcourseFinalReason")


def status_of(run: Run) -> str:
    """running, asking, paused or ended. A run asks once its question is out, and is paused once that is written down."""
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


async def register(client: Client) -> None:
    """Make the attributes known to the namespace, unless they are."""
    service, namespace = client.operator_service, client.namespace
    known = await service.list_search_attributes(ListSearchAttributesRequest(namespace=namespace))
    missing = [key.name for key in (STATUS, WORLD, TENANT, FINAL_REASON) if key.name not in known.custom_attributes]
    if not missing:
        return
    attributes = dict.fromkeys(missing, IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD)
    try:
        await service.add_search_attributes(
            AddSearchAttributesRequest(namespace=namespace, search_attributes=attributes)
        )
    except RPCError as error:
        if error.status != RPCStatusCode.ALREADY_EXISTS:  # another process was faster
            raise
