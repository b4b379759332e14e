"""Ids and labels that a simulated world shows in place of the original ones, after a fault moved or renamed a zone."""

from dataclasses import replace

from midcourse.domain.observation import Zone

WIDTH, HEIGHT, ROW = 300, 20, 24
ASIDE = 320


class Disguises:
    """The ids and labels that have changed since the session began."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._labels: dict[str, str] = {}

    def give_id(self, thing: str, shown_as: str) -> None:
        self._ids[thing] = shown_as

    def give_label(self, thing: str, label: str) -> None:
        self._labels[thing] = label

    def id_of(self, thing: str) -> str:
        return self._ids.get(thing, thing)

    def thing(self, zone_id: str) -> str:
        """The original id of the zone that is shown under this id."""
        return next((thing for thing, shown_as in self._ids.items() if shown_as == zone_id), zone_id)

    def disguise_zone(self, index: int, zone: Zone) -> Zone:
        """The zone as it is shown. Zones are laid out one below the other; a zone with a changed id is shifted to the right."""
        left = ASIDE if zone.id in self._ids else 0
        bounds = (left, ROW * index, WIDTH, HEIGHT)
        return replace(zone, id=self.id_of(zone.id), label=self._labels.get(zone.id, zone.label), bounds=bounds)
