"""What a run left behind in the engine, by the engine's own count."""

from dataclasses import dataclass

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client


@dataclass(frozen=True, kw_only=True)
class Counts:
    activities: int
    transitions: int
    events: int
    history_bytes: int
    """Without the first and the last event, which a run has once however long it is."""


async def count(client: Client, workflow_id: str) -> Counts:
    handle = client.get_workflow_handle(workflow_id)
    info = (await handle.describe()).raw_description.workflow_execution_info
    first, *between, last = (await handle.fetch_history()).events
    scheduled = EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    return Counts(
        activities=sum(event.event_type == scheduled for event in between),
        transitions=info.state_transition_count,
        events=info.history_length,
        history_bytes=info.history_size_bytes - first.ByteSize() - last.ByteSize(),
    )
