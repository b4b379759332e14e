import { useQuery } from "@tanstack/react-query";
import { useLiveTurns } from "../api/use-live-turns";
import { runQuery } from "../api/queries";
import { useObservation } from "../api/use-observation";
import { ObservationView } from "../ui/observation-view";

/** The latest observation of a run, with the target of the current step. */
export function CurrentObservation({ run }: { run: string }) {
  const view = useQuery(runQuery(run));
  const { turns } = useLiveTurns(run);
  const { observation, picture } = useObservation(run, view.data?.seen?.id ?? "", turns);
  const plan = view.data?.plan;
  const zone = plan?.steps[plan.cursor]?.zone;
  return observation ? <ObservationView run={run} observation={observation} pictured={picture} target={zone} zones={false} /> : null;
}
