import { useQuery } from "@tanstack/react-query";
import { observationQuery } from "./queries";
import { findIndexAt } from "./turns";
import type { Observation, TurnMessage } from "./types";

type ObservationRef = NonNullable<TurnMessage["seen"]>;

/**
 * Finds the observation that has the picture of the screen at this turn. A world takes a picture only when its screen has changed, so this
 * is the first of the consecutive observations of the same screen.
 */
export function findPicturedObservation(turns: readonly TurnMessage[], at: number | undefined): ObservationRef | null {
  let first: ObservationRef | null = null;
  for (let index = findIndexAt(turns, at); index >= 0; index--) {
    const turn = turns[index];
    if (!turn?.seen || (at !== undefined && turn.seq > at)) continue;
    if (first && (turn.seen.fingerprint !== first.fingerprint || turn.seen.view !== first.view)) break;
    first = turn.seen;
  }
  return first;
}

export interface ObservationResult {
  observation?: Observation;
  /** The observation with the picture, if it is another one. */
  picture?: Observation;
  error: unknown;
}

/** Loads an observation, and the earlier observation that has its picture. */
export function useObservation(run: string, id: string, turns: readonly TurnMessage[], at?: number): ObservationResult {
  const observation = useQuery({ ...observationQuery(run, id), placeholderData: (previous) => previous });
  const hasNoPicture = !!observation.data && !observation.data.screenshot;
  const pictureId = hasNoPicture ? findPicturedObservation(turns, at)?.id : undefined;
  const picture = useQuery({ ...observationQuery(run, pictureId ?? ""), enabled: !!pictureId && pictureId !== id });
  return { observation: observation.data, picture: hasNoPicture && picture.data ? picture.data : undefined, error: observation.error };
}
