"""A game with one quest: talk to the elder, find the lantern, turn the quest in. The server gives the reward every time it is asked."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, Unpack, get_args

from midcourse.domain.approval import CommitSet
from midcourse.domain.observation import Zone
from midcourse.domain.outcome import Outcome
from midcourse.worlds.base import Scene, failed, not_sent, probe, skill
from midcourse.worlds.simulated.base import Overlay, SimulatedWorld, Simulation

QUEST = "The lost lantern"
ELDER = "Elder Mara"
COMPLETE = "Quest complete"
Place: TypeAlias = Literal["Village", "Forest", "Old mill"]
OBJECTIVE: Place = "Old mill"
"""On the map once the quest is accepted."""
Dialog: TypeAlias = Literal["", "elder", "complete"]


@dataclass(frozen=True, kw_only=True)
class QuestState:
    """The state in the player's client, which may differ from the server's."""

    place: Place = "Village"
    dialog: Dialog = ""
    accepted: bool = False
    completed: bool = False
    alert: str = ""


class Quest(SimulatedWorld[QuestState]):
    """A simulated game with one quest. The server gives the reward every time it is asked."""

    name = "quest"
    stores = ("accept_quest", "turn_in")
    popup = Overlay(kind="popup", title="Daily reward", text="You have earned 10 coins.", button="Claim")
    error = Overlay(
        kind="error", title="Server error", text="The game server did not answer, please try again.", button="OK"
    )
    loading = Overlay(kind="loading", title="Loading area", text="Loading area")

    def __init__(self, *, reward: int = 50, **simulation: Unpack[Simulation]) -> None:
        """`reward` is what the server pays for the quest, in coins."""
        super().__init__(QuestState(), **simulation)
        self._reward = reward

    @skill
    def walk(self, zone: Zone) -> Outcome | None:
        """Walk to a character, or to a place on the map. A character begins to talk."""
        if zone.role == "npc":
            self.state = replace(self.state, place="Village", dialog="elder", alert="")
            return None
        place = next((place for place in get_args(Place) if zone.id == _make_place_id(place)), None)
        if place is None:
            return failed("wrong_target", f"cannot walk to {zone.role} '{zone.label}'")
        self.state = replace(self.state, place=place, dialog="", alert="")
        return None

    @skill
    def interact(self, zone: Zone) -> Outcome | None:
        """Take or use a thing that is near."""
        if zone.id != "lantern":
            return failed("wrong_target", f"{zone.role} '{zone.label}' is nothing to take")
        if self.state.place != OBJECTIVE:
            return failed("too_far", f"the lantern is at '{OBJECTIVE}', not at '{self.state.place}'")
        self.state = replace(self.state, dialog="complete", alert="")
        return None

    @skill(effect="irreversible", transition=True, commit_set="the_quest")
    def accept_quest(self, zone: Zone) -> Outcome | None:
        """Choose 'Accept quest': there is no way to hand it back."""
        if zone.id != "option_accept":
            return not_sent("wrong_target", f"{zone.role} '{zone.label}' accepts no quest")
        self.store("quest_accepted", quest=QUEST)
        self.state = replace(self.state, dialog="", accepted=True)
        return None

    @skill(effect="irreversible", transition=True, commit_set="the_quest")
    def turn_in(self, zone: Zone) -> Outcome | None:
        """Press 'Turn in': hand in what the quest is about, and be rewarded."""
        if zone.id != "turn_in":
            return not_sent("wrong_target", f"{zone.role} '{zone.label}' turns nothing in")
        if not self.happened("quest_accepted"):
            self.state = replace(self.state, alert="Not turned in: the server knows of no such quest.")
            return None
        self.store("quest_completed", quest=QUEST, reward=self._reward)
        self.state = replace(self.state, dialog="", completed=True, alert="")
        return None

    def the_quest(self, zone: Zone) -> CommitSet | None:
        """Return what is sent to the server: the quest and its reward."""
        if zone.id not in ("option_accept", "turn_in"):
            return None
        return CommitSet(values=(("quest", QUEST), ("reward", self._reward)), address=f"game://quests/{zone.id}")

    @probe
    def quest_accepted(self) -> bool:
        """Whether the server knows the quest as accepted."""
        return bool(self.happened("quest_accepted"))

    @probe
    def quest_completed(self) -> bool:
        """Whether the server knows the quest as completed."""
        return bool(self.happened("quest_completed"))

    def clicked(self, zone: Zone) -> Outcome | None:
        if zone.id in ("option_accept", "turn_in"):
            return failed("wrong_skill", f"'{zone.label}' is chosen with accept_quest or turn_in")
        if zone.id in ("option_goodbye", "close"):
            self.state = replace(self.state, dialog="", alert="")
        return None

    def without_dialog(self) -> QuestState | None:
        return replace(self.state, dialog="", alert="") if self.state.dialog else None

    def scene(self) -> Scene:
        match self.state.dialog:
            case "elder":
                return Scene(ELDER, *self._build_elder())
            case "complete":
                return Scene(COMPLETE, *self._build_completion())
            case "":
                return Scene(self.state.place, *self._build_map())

    def _build_elder(self) -> tuple[Zone, ...]:
        return (
            Zone(id="speech", role="text", label="My lantern is lost. Will you bring it back?"),
            Zone(id="option_accept", role="option", label="Accept quest"),
            Zone(id="option_more", role="option", label="Where did you lose it?"),
            Zone(id="option_goodbye", role="option", label="Goodbye"),
        )

    def _build_completion(self) -> tuple[Zone, ...]:
        alert = (Zone(id="alert", role="alert", label=self.state.alert),) if self.state.alert else ()
        return (
            *alert,
            Zone(id="found", role="text", label="You have found the lantern."),
            Zone(id="turn_in", role="button", label="Turn in", state=(("reward", self._reward),)),
            Zone(id="close", role="button", label="Close"),
        )

    def _build_map(self) -> tuple[Zone, ...]:
        """Return what is near or on the map. The quest log combines the states of the server and of the client."""
        accepted = self.state.accepted or self.quest_accepted()
        completed = self.state.completed or self.quest_completed()
        status = "completed" if completed else "active" if accepted else "none"
        places = tuple(place for place in get_args(Place) if accepted or place != OBJECTIVE)
        marked = accepted and not completed
        return (
            Zone(id="quest_log", role="quest_log", label="Quest log", state=(("status", status),)),
            Zone(id="npc_elder", role="npc", label=ELDER),
            *(
                Zone(id=_make_place_id(place), role="place", label=place, state=(("here", place == self.state.place),))
                for place in places
            ),
            *((Zone(id="lantern", role="object", label="Lantern", state=(("at", OBJECTIVE),)),) if marked else ()),
        )


def _make_place_id(place: Place) -> str:
    return f"place_{place.lower().replace(' ', '_')}"
