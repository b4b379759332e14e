import { useQuery } from "@tanstack/react-query";
import { observationQuery } from "./queries";
import { placeOf } from "./turns";
import type { Observation, TurnMessage } from "./types";

type Ref = NonNullable<TurnMessage["seen"]>;

/** The first observation of the same screen in a row up to this turn: a world takes a picture when its screen has changed. */
export function pictured(turns: readonly TurnMessage[], at: number | undefined): Ref | null {
  let first: Ref | null = null;
  for (let index = placeOf(turns, at); index >= 0; index--) {
    const turn = turns[index];
    if (!turn?.seen || (at !== undefined && turn.seq > at)) continue;
    if (first && (turn.seen.fingerprint !== first.fingerprint || turn.seen.view !== first.view)) break;
    first = turn.seen;
  }
  return first;
}

export interface Sight {
  seen?: Observation;
  picture?: Observation;
  error: unknown;
}

/** What was seen at a turn, and the observation that has the picture of it. */
export function useSight(run: string, id: string, turns: readonly TurnMessage[], at?: number): Sight {
  const seen = useQuery({ ...observationQuery(run, id), placeholderData: (before) => before });
  const bare = !!seen.data && !seen.data.screenshot;
  const first = bare ? pictured(turns, at)?.id : undefined;
  const picture = useQuery({ ...observationQuery(run, first ?? ""), enabled: !!first && first !== id });
  return { seen: seen.data, picture: bare && picture.data ? picture.data : undefined, error: seen.error };
}
