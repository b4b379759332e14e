import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Compass, Hand, MessageSquareText, MousePointerClick, Pause, Play, Square } from "lucide-react";
import { useState } from "react";
import { send } from "../api/client";
import { meQuery } from "../api/queries";
import type { Accepted, RunView } from "../api/types";
import { Dialog, Field } from "../ui/dialog";
import { useKeys } from "../ui/use-keys";
import { Button } from "../ui/components";
import { UntrustedText } from "../ui/untrusted-text";
import { ErrorNotice } from "../ui/error-notice";

/** The buttons that control a run; only what is allowed now is shown. */
export function Controls({ view }: { view: RunView }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [guiding, setGuiding] = useState(false);
  const [cancelling, setCancelling] = useState(false);
  const [takingOver, setTakingOver] = useState(false);
  const [text, setText] = useState("");
  const allowed = new Set(view.may);
  const me = useQuery(meQuery());
  const isMine = !!view.taken_over_by && view.taken_over_by === me.data?.name;
  const control = useMutation({
    mutationFn: ({ action, body }: { action: string; body?: object }) => send<Accepted>("POST", `runs/${encodeURIComponent(view.id)}/${action}`, body),
    onSettled: () => void client.invalidateQueries({ queryKey: ["run", view.id] }),
  });
  useKeys({
    p: () => (allowed.has("pause") ? control.mutate({ action: "pause" }) : allowed.has("resume") && control.mutate({ action: "resume" })),
    g: () => allowed.has("guide") && setGuiding(true),
    t: () => allowed.has("take_over") && !isMine && setTakingOver(true),
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
            Answer
          </Link>
        )}
        {allowed.has("pause") && view.wish === "go" && (
          <Button keys="p" onClick={() => control.mutate({ action: "pause" })}>
            <Pause aria-hidden className="size-4" />
            Pause
          </Button>
        )}
        {allowed.has("resume") && (
          <Button look="primary" keys="p" onClick={() => control.mutate({ action: "resume" })}>
            <Play aria-hidden className="size-4" />
            Resume
          </Button>
        )}
        {allowed.has("guide") && (
          <Button keys="g" onClick={() => setGuiding(true)}>
            <Compass aria-hidden className="size-4" />
            Guide…
          </Button>
        )}
        {allowed.has("take_over") && !isMine && (
          <Button keys="t" disabled={control.isPending} onClick={() => setTakingOver(true)}>
            <MousePointerClick aria-hidden className="size-4" />
            Take over…
          </Button>
        )}
        {allowed.has("cancel") && view.wish !== "cancel" && (
          <Button look="danger" onClick={() => setCancelling(true)}>
            <Square aria-hidden className="size-4" />
            Cancel…
          </Button>
        )}
      </div>
      <div role="status" className="text-sm text-soft">
        {control.data && (
          <span className="flex items-center gap-1.5">
            <MessageSquareText aria-hidden className="size-4" />
            <UntrustedText text={control.data.says} />
          </span>
        )}
      </div>
      <ErrorNotice error={control.error} />
      <Dialog open={guiding} onClose={() => setGuiding(false)} title="Guide the planner" description="The planner reads this when it makes its next plan. Your guidance does not start a new plan.">
        <form
          className="space-y-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (!text.trim()) return;
            control.mutate({ action: "guide", body: { text } });
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
        open={takingOver}
        onClose={() => setTakingOver(false)}
        title="Take over?"
        description="The run pauses after the current step, and you act in its world yourself. Secrets are not covered, and nothing that you send is held for approval; it is recorded as yours. When you resume the run, it observes the world again."
      >
        <div className="flex justify-end gap-2">
          <Button onClick={() => setTakingOver(false)}>Back</Button>
          <Button
            look="primary"
            autoFocus
            onClick={() => {
              control.mutate({ action: "take-over" });
              setTakingOver(false);
            }}
          >
            Take over
          </Button>
        </div>
      </Dialog>
      <Dialog open={cancelling} onClose={() => setCancelling(false)} title="Cancel this run?" description="The run ends after the current step: an act is never interrupted. A cancelled run cannot be resumed.">
        <div className="flex justify-end gap-2">
          <Button onClick={() => setCancelling(false)}>Back</Button>
          <Button
            look="danger"
            autoFocus
            onClick={() => {
              control.mutate({ action: "cancel" });
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
