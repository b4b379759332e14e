import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Play, TriangleAlert } from "lucide-react";
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import { send } from "../api/client";
import type { Accepted, Gesture, HandledView, RunView } from "../api/types";
import { usePicture } from "../api/watching";
import { Button, Panel } from "../ui/parts";
import { Window } from "../ui/picture";
import { Said } from "../ui/said";
import { Trouble } from "../ui/trouble";

/** Milliseconds between two movements of the mouse that are sent. */
const MOVES = 100;
const MOST = 100;
const BUTTONS = ["left", "middle", "right"] as const;
const SILENT = new Set(["Dead", "Process", "Unidentified", "AltGraph"]);

/** Sends gestures in their order, one request at a time; movements that were overtaken are left out. */
class Hand {
  private queue: Gesture[] = [];
  private busy = false;

  constructor(
    private readonly path: string,
    private readonly done: (dialog: string) => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  do(gesture: Gesture): void {
    if (gesture.kind === "move" && this.queue.at(-1)?.kind === "move") this.queue.pop();
    this.queue.push(gesture);
    void this.flush();
  }

  async flush(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      do {
        const gestures = this.queue.splice(0, MOST);
        this.done((await send<HandledView>("POST", `${this.path}/input`, { gestures })).dialog);
      } while (this.queue.length);
    } catch (error) {
      this.queue = [];
      this.failed(error);
    } finally {
      this.busy = false;
    }
  }
}

/** The browser in the hands of the person who reads this: its page as it is, mouse and keyboard. */
export function TakeOver({ view }: { view: RunView }) {
  const client = useQueryClient();
  const path = `runs/${encodeURIComponent(view.id)}/take-over`;
  const picture = usePicture(`${path}/picture`, true);
  const [dialog, setDialog] = useState("");
  const [error, setError] = useState<unknown>(null);
  const hand = useMemo(() => new Hand(path, setDialog, setError), [path]);
  const page = useRef<HTMLDivElement>(null);
  const moved = useRef(0);
  const back = useMutation({
    mutationFn: () => send<Accepted>("POST", `runs/${encodeURIComponent(view.id)}/resume`),
    onSettled: () => void client.invalidateQueries({ queryKey: ["run", view.id] }),
  });

  // A dialog that the page opens by itself stops the pictures: ask for it in between.
  useEffect(() => {
    const timer = setInterval(() => void hand.flush(), 2000);
    return () => clearInterval(timer);
  }, [hand]);

  useEffect(() => {
    const element = page.current;
    const turn = (event: WheelEvent) => {
      event.preventDefault(); // which React's own handlers cannot
      hand.do({ kind: "wheel", dx: event.deltaX, dy: event.deltaY });
    };
    element?.addEventListener("wheel", turn, { passive: false });
    return () => element?.removeEventListener("wheel", turn);
  }, [hand]);

  const at = (event: PointerEvent): { x: number; y: number } => {
    const { left, top, width, height } = event.currentTarget.getBoundingClientRect();
    const share = (value: number) => Math.min(1, Math.max(0, value));
    return { x: share((event.clientX - left) / width), y: share((event.clientY - top) / height) };
  };
  const press = (event: PointerEvent<HTMLDivElement>) => {
    event.currentTarget.focus({ preventScroll: true }); // else the page would move away under the mouse
    event.currentTarget.setPointerCapture(event.pointerId);
    hand.do({ kind: "press", ...at(event), button: BUTTONS[event.button] ?? "left", clicks: clicks(event) });
  };
  const times = useRef({ at: 0, x: 0, y: 0, clicks: 1 });
  const clicks = (event: PointerEvent): number => {
    const last = times.current;
    const again = event.timeStamp - last.at < 400 && Math.hypot(event.clientX - last.x, event.clientY - last.y) < 5;
    times.current = { at: event.timeStamp, x: event.clientX, y: event.clientY, clicks: again ? Math.min(3, last.clicks + 1) : 1 };
    return times.current.clicks;
  };
  const type = (event: KeyboardEvent, kind: "key_down" | "key_up") => {
    event.stopPropagation(); // keys of this page do nothing meanwhile
    if (event.key === "Escape" && event.shiftKey) {
      page.current?.blur();
      return;
    }
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "v") return; // comes as a paste
    if (SILENT.has(event.key)) return;
    event.preventDefault();
    hand.do({ kind, text: event.key });
  };

  return (
    <Panel
      title="The browser is yours"
      aside={
        <>
          <Button small onClick={() => hand.do({ kind: "back" })}>
            Back
          </Button>
          <Button small look="primary" disabled={back.isPending} onClick={() => back.mutate()}>
            <Play aria-hidden className="size-3.5" />
            Hand back and resume
          </Button>
        </>
      }
    >
      <div className="space-y-3">
        <p className="flex items-start gap-2 rounded-lg bg-ask-wash px-3.5 py-2 text-sm text-ask">
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          <span>
            Nothing is covered and nothing that you send is held. What you do is recorded as yours; pictures and what you type are not. Click into the page to type; Shift+Esc leaves it.
          </span>
        </p>
        {dialog && (
          <div role="alertdialog" aria-label="The page asks" className="flex flex-wrap items-center gap-3 rounded-lg border px-3.5 py-2 text-sm">
            <span className="min-w-0 flex-1">
              The page asks: <Said text={dialog} className="font-medium" />
            </span>
            <Button small look="primary" onClick={() => hand.do({ kind: "accept" })}>
              OK
            </Button>
            <Button small onClick={() => hand.do({ kind: "dismiss" })}>
              Cancel
            </Button>
          </div>
        )}
        <Trouble error={error ?? back.error} />
        <Window title={<span className="ml-auto font-medium text-ask">not covered, not stored</span>}>
          <div
            ref={page}
            role="application"
            tabIndex={0}
            data-taken-over
            aria-label="The page of the browser. Mouse and keys act in it; Shift and Escape leave it."
            className="block min-h-40 cursor-default touch-none select-none focus-visible:outline-3 focus-visible:outline-accent"
            onContextMenu={(event) => event.preventDefault()}
            onPointerDown={press}
            onPointerUp={(event) => hand.do({ kind: "release", ...at(event), button: BUTTONS[event.button] ?? "left", clicks: times.current.clicks })}
            onPointerMove={(event) => {
              if (event.timeStamp - moved.current < MOVES) return;
              moved.current = event.timeStamp;
              hand.do({ kind: "move", ...at(event) });
            }}
            onKeyDown={(event) => type(event, "key_down")}
            onKeyUp={(event) => type(event, "key_up")}
            onPaste={(event) => hand.do({ kind: "text", text: event.clipboardData.getData("text").slice(0, 10_000) })}
          >
            {picture ? (
              <img src={picture} alt="The page as it is now, nothing covered" draggable={false} className="block w-full" />
            ) : (
              <p className="py-16 text-center text-sm text-soft">{dialog ? "The page waits for an answer." : "Waiting for the first picture…"}</p>
            )}
          </div>
        </Window>
      </div>
    </Panel>
  );
}
