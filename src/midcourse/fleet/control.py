"""Control of a durable run, through the inbox of the fleet's store."""

from temporalio.service import RPCError

from midcourse.agent.control import NotDriven, RunControl
from midcourse.errors import RunUnknown
from midcourse.fleet.connection import Fleet, RunBroken
from midcourse.ports.controls import Request

START_ONE = "start one with midcourse up --detach, or midcourse fleet worker"


class FleetControl(RunControl):
    """Controls a run of a fleet."""

    quiet_looks = 25

    def __init__(self, fleet: Fleet, run_id: str) -> None:
        super().__init__(fleet.store, run_id)
        self._handle = fleet.runs.handle(run_id)
        self._tenant = fleet.runs.tenant

    async def tell(self, event: Request, /) -> str:
        try:
            return await self._handle.tell(event)
        except ConnectionError as trouble:
            return f"the database cannot be reached, so it is not known whether the run will take it: {trouble}"

    async def why_not_driven(self) -> str:
        """Why no worker drives the run yet; empty if one does. Raises `NotDriven` if its execution broke or never began."""
        resume = f"midcourse resume {self.run_id}"
        try:
            listed = await self._handle.describe()
            if listed.status == "broken":
                await self._handle.result()
        except RPCError:  # if Temporal cannot be reached, nothing is known about the run
            return ""
        except RunBroken as broken:
            raise NotDriven(f"{broken}; once that is fixed, {resume}") from broken
        except RunUnknown as unknown:
            raise NotDriven(f"no worker is running it; start it with {resume}") from unknown
        waits = f"no worker of tenant '{self._tenant}' has taken run {self.run_id} up so far; {START_ONE}"
        return waits if listed.waits_for_worker else ""
