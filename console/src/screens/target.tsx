import { useQuery } from "@tanstack/react-query";
import { useLive } from "../api/live";
import { runQuery } from "../api/queries";
import { useSight } from "../api/seen";
import { Scene } from "../ui/scene";

/** What the run sees now, with the target of the step that it is at. */
export function Target({ run }: { run: string }) {
  const view = useQuery(runQuery(run));
  const { turns } = useLive(run);
  const { seen, picture } = useSight(run, view.data?.seen?.id ?? "", turns);
  const plan = view.data?.plan;
  const zone = plan?.steps[plan.cursor]?.zone;
  return seen ? <Scene run={run} seen={seen} picture={picture} target={zone} zones={false} /> : null;
}
