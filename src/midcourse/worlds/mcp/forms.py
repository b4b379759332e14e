"""Forms of an MCP server (elicitation). Each goes to a person, never to a model. Everything else that a server wants is refused."""

from collections.abc import Mapping

from mcp.client import ClientRequestContext
from mcp.client.session import ElicitationFnT
from mcp.types import (
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    InputRequests,
    InputResponses,
)

from midcourse.domain.argument import Scalar
from midcourse.ports.approver import FillIn, Form
from midcourse.worlds.json_schema import as_mapping
from midcourse.worlds.mcp.tool import form_fields


class Forms:
    """The forms of one connection. Without `fill_in`, the server learns that forms cannot be filled in here."""

    def __init__(self, asker: str, fill_in: FillIn | None) -> None:
        self._asker = asker
        self._fill_in = fill_in
        self.skill = ""
        """The tool that is being called, because a form of the handshake generation does not name it."""

    @property
    def callback(self) -> ElicitationFnT | None:
        """The callback for requests that servers of the handshake generation send in the middle of a call."""
        return self._answer if self._fill_in else None

    async def respond(self, requests: InputRequests) -> InputResponses | None:
        """Return the responses of a person, or None if one of the requests is not a form, or if there is no person to ask."""
        forms = {key: request for key, request in requests.items() if isinstance(request, ElicitRequest)}
        if self._fill_in is None or len(forms) < len(requests):
            return None
        return {key: await self._ask(self._fill_in, request.params) for key, request in forms.items()}

    async def _answer(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert self._fill_in, "the callback exists only then"
        return await self._ask(self._fill_in, params)

    async def _ask(self, fill_in: FillIn, params: ElicitRequestParams) -> ElicitResult:
        if isinstance(params, ElicitRequestFormParams):
            fields = form_fields(as_mapping(params.requested_schema))
            form = Form(asker=self._asker, skill=self.skill, message=params.message, fields=fields)
        else:
            form = Form(asker=self._asker, skill=self.skill, message=params.message, address=params.url)
        values: Mapping[str, Scalar] | None = await fill_in(form)
        if values is None:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=None if form.address else dict(values))
