import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Compass, Hand, MessageSquareText, MousePointerClick, Pause, Play, Square } from "lucide-react";
import { useState } from "react";
import { send } from "../api/client";
import { meQuery } from "../api/queries";
import type { Accepted, RunView } from "../api/types";
import { Dialog, Field } from "../ui/dialog";
import { useKeys } from "../ui/keys";
import { Button } from "../ui/parts";
import { Said } from "../ui/said";
import { Trouble } from "../ui/trouble";

/** What may be done with a run now. */
export function Controls({ view }: { view: RunView }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [guiding, setGuiding] = useState(false);
  const [cancelling, setCancelling] = useState(false);
  const [taking, setTaking] = useState(false);
  const [text, setText] = useState("");
  const may = new Set(view.may);
  const me = useQuery(meQuery());
  const mine = !!view.taken_over_by && view.taken_over_by === me.data?.name;
  const tell = useMutation({
    mutationFn: ({ what, body }: { what: string; body?: object }) => send<Accepted>("POST", `runs/${encodeURIComponent(view.id)}/${what}`, body),
    onSettled: () => void client.invalidateQueries({ queryKey: ["run", view.id] }),
  });
  useKeys({
    p: () => (may.has("pause") ? tell.mutate({ what: "pause" }) : may.has("resume") && tell.mutate({ what: "resume" })),
    g: () => may.has("guide") && setGuiding(true),
    t: () => may.has("take_over") && !mine && setTaking(true),
    i: () => view.question !== null && void navigate({ to: "/inbox", search: { run: view.id } }),
  });
  return (
    <div className="flex flex-col items-start gap-2 sm:items-end">
      <div className="flex flex-wrap gap-2">
        {view.question !== null && (
          <Link
            to="/inbox"
            search={{ run: view.id }}
            className="inline-flex min-h-10 items-center gap-2 rounded-lg bg-accent px-3.5 text-sm font-medium text-on-accent hover:brightness-110"
          >
            <Hand aria-hidden className="size-4" />
            Answer it
          </Link>
        )}
        {may.has("pause") && view.wish === "go" && (
          <Button keys="p" onClick={() => tell.mutate({ what: "pause" })}>
            <Pause aria-hidden className="size-4" />
            Pause
          </Button>
        )}
        {may.has("resume") && (
          <Button look="primary" keys="p" onClick={() => tell.mutate({ what: "resume" })}>
            <Play aria-hidden className="size-4" />
            Resume
          </Button>
        )}
        {may.has("guide") && (
          <Button keys="g" onClick={() => setGuiding(true)}>
            <Compass aria-hidden className="size-4" />
            Guide…
          </Button>
        )}
        {may.has("take_over") && !mine && (
          <Button keys="t" disabled={tell.isPending} onClick={() => setTaking(true)}>
            <MousePointerClick aria-hidden className="size-4" />
            Take over…
          </Button>
        )}
        {may.has("cancel") && view.wish !== "cancel" && (
          <Button look="danger" onClick={() => setCancelling(true)}>
            <Square aria-hidden className="size-4" />
            Cancel…
          </Button>
        )}
      </div>
      <div role="status" className="text-sm text-soft">
        {tell.data && (
          <span className="flex items-center gap-1.5">
            <MessageSquareText aria-hidden className="size-4" />
            <Said text={tell.data.says} />
          </span>
        )}
      </div>
      <Trouble error={tell.error} />
      <Dialog open={guiding} onClose={() => setGuiding(false)} title="Guide the planner" says="It reads this with its next plan. It does not make it plan again by itself.">
        <form
          className="space-y-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (!text.trim()) return;
            tell.mutate({ what: "guide", body: { text } });
            setGuiding(false);
            setText("");
          }}
        >
          <Field label="Your guidance">{(className) => <textarea autoFocus rows={3} className={className} value={text} onChange={(event) => setText(event.target.value)} />}</Field>
          <div className="flex justify-end gap-2">
            <Button onClick={() => setGuiding(false)}>Back</Button>
            <Button type="submit" look="primary" disabled={!text.trim()}>
              Send
            </Button>
          </div>
        </form>
      </Dialog>
      <Dialog
        open={taking}
        onClose={() => setTaking(false)}
        title="Take over?"
        says="It pauses after the current step, and you act in its world yourself. Nothing is covered and nothing that you send is held; it is recorded as yours. The run looks again when you resume it."
      >
        <div className="flex justify-end gap-2">
          <Button onClick={() => setTaking(false)}>Back</Button>
          <Button
            look="primary"
            autoFocus
            onClick={() => {
              tell.mutate({ what: "take-over" });
              setTaking(false);
            }}
          >
            Take over
          </Button>
        </div>
      </Dialog>
      <Dialog open={cancelling} onClose={() => setCancelling(false)} title="Cancel this run?" says="It ends after the current step: an act is never interrupted. A cancelled run is over.">
        <div className="flex justify-end gap-2">
          <Button onClick={() => setCancelling(false)}>Back</Button>
          <Button
            look="danger"
            autoFocus
            onClick={() => {
              tell.mutate({ what: "cancel" });
              setCancelling(false);
            }}
          >
            Cancel the run
          </Button>
        </div>
      </Dialog>
    </div>
  );
}
