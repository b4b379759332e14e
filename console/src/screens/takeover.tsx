import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Play, TriangleAlert } from "lucide-react";
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import { send } from "../api/client";
import type { Accepted, Gesture, HandledView, RunView } from "../api/types";
import { useLivePicture } from "../api/use-live-picture";
import { Button, Panel } from "../ui/components";
import { WindowFrame } from "../ui/live-picture";
import { UntrustedText } from "../ui/untrusted-text";
import { ErrorNotice } from "../ui/error-notice";

/** Milliseconds between two mouse movements that are sent. */
const MOVE_INTERVAL_MS = 100;
const MAX_GESTURES_PER_REQUEST = 100;
const BUTTONS = ["left", "middle", "right"] as const;
/** Keys that the browser reports while text is being composed. */
const IGNORED_KEYS = new Set(["Dead", "Process", "Unidentified", "AltGraph"]);

/** Sends gestures in order, one request at a time. A movement that was not sent before the next one is dropped. */
class GestureQueue {
  private queue: Gesture[] = [];
  private busy = false;

  constructor(
    private readonly path: string,
    private readonly onDone: (dialog: string) => void,
    private readonly onError: (error: unknown) => void,
  ) {}

  add(gesture: Gesture): void {
    if (gesture.kind === "move" && this.queue.at(-1)?.kind === "move") this.queue.pop();
    this.queue.push(gesture);
    void this.flush();
  }

  async flush(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      do {
        const batch = this.queue.splice(0, MAX_GESTURES_PER_REQUEST);
        this.onDone((await send<HandledView>("POST", `${this.path}/input`, { gestures: batch })).dialog);
      } while (this.queue.length);
    } catch (error) {
      this.queue = [];
      this.onError(error);
    } finally {
      this.busy = false;
    }
  }
}

/** The page of the run's browser, which the user controls with mouse and keyboard. */
export function TakeOver({ view }: { view: RunView }) {
  const client = useQueryClient();
  const path = `runs/${encodeURIComponent(view.id)}/take-over`;
  const picture = useLivePicture(`${path}/picture`, true);
  const [dialog, setDialog] = useState("");
  const [error, setError] = useState<unknown>(null);
  const gestures = useMemo(() => new GestureQueue(path, setDialog, setError), [path]);
  const page = useRef<HTMLDivElement>(null);
  const lastMove = useRef(0);
  const handBack = useMutation({
    mutationFn: () => send<Accepted>("POST", `runs/${encodeURIComponent(view.id)}/resume`),
    onSettled: () => void client.invalidateQueries({ queryKey: ["run", view.id] }),
  });

  // A dialog that the page opens stops the pictures, so ask regularly whether there is one.
  useEffect(() => {
    const timer = setInterval(() => void gestures.flush(), 2000);
    return () => clearInterval(timer);
  }, [gestures]);

  useEffect(() => {
    const element = page.current;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault(); // React's wheel handlers are passive and cannot do this
      gestures.add({ kind: "wheel", dx: event.deltaX, dy: event.deltaY });
    };
    element?.addEventListener("wheel", onWheel, { passive: false });
    return () => element?.removeEventListener("wheel", onWheel);
  }, [gestures]);

  const positionOf = (event: PointerEvent): { x: number; y: number } => {
    const { left, top, width, height } = event.currentTarget.getBoundingClientRect();
    const clamp = (value: number) => Math.min(1, Math.max(0, value));
    return { x: clamp((event.clientX - left) / width), y: clamp((event.clientY - top) / height) };
  };
  const onPress = (event: PointerEvent<HTMLDivElement>) => {
    event.currentTarget.focus({ preventScroll: true }); // otherwise this page would scroll under the mouse
    event.currentTarget.setPointerCapture(event.pointerId);
    gestures.add({ kind: "press", ...positionOf(event), button: BUTTONS[event.button] ?? "left", clicks: countClicks(event) });
  };
  const lastClick = useRef({ at: 0, x: 0, y: 0, clicks: 1 });
  const countClicks = (event: PointerEvent): number => {
    const last = lastClick.current;
    const isRepeated = event.timeStamp - last.at < 400 && Math.hypot(event.clientX - last.x, event.clientY - last.y) < 5;
    lastClick.current = { at: event.timeStamp, x: event.clientX, y: event.clientY, clicks: isRepeated ? Math.min(3, last.clicks + 1) : 1 };
    return lastClick.current.clicks;
  };
  const onKey = (event: KeyboardEvent, kind: "key_down" | "key_up") => {
    event.stopPropagation(); // the keys of the console must not act meanwhile
    if (event.key === "Escape" && event.shiftKey) {
      page.current?.blur();
      return;
    }
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "v") return; // arrives as a paste event
    if (IGNORED_KEYS.has(event.key)) return;
    event.preventDefault();
    gestures.add({ kind, text: event.key });
  };

  return (
    <Panel
      title="You control the browser"
      aside={
        <>
          <Button small onClick={() => gestures.add({ kind: "back" })}>
            Back
          </Button>
          <Button small look="primary" disabled={handBack.isPending} onClick={() => handBack.mutate()}>
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
            Secrets are not covered, and nothing that you send is held for approval. Your actions are recorded; pictures and the text you type are not. Click into the page to type; Shift+Esc leaves it.
          </span>
        </p>
        {dialog && (
          <div role="alertdialog" aria-label="The page asks" className="flex flex-wrap items-center gap-3 rounded-lg border px-3.5 py-2 text-sm">
            <span className="min-w-0 flex-1">
              The page asks: <UntrustedText text={dialog} className="font-medium" />
            </span>
            <Button small look="primary" onClick={() => gestures.add({ kind: "accept" })}>
              OK
            </Button>
            <Button small onClick={() => gestures.add({ kind: "dismiss" })}>
              Cancel
            </Button>
          </div>
        )}
        <ErrorNotice error={error ?? handBack.error} />
        <WindowFrame title={<span className="ml-auto font-medium text-ask">not covered, not stored</span>}>
          <div
            ref={page}
            role="application"
            tabIndex={0}
            data-taken-over
            aria-label="The page of the browser. Mouse and keys act in it; Shift and Escape leave it."
            className="block min-h-40 cursor-default touch-none select-none focus-visible:outline-3 focus-visible:outline-accent"
            onContextMenu={(event) => event.preventDefault()}
            onPointerDown={onPress}
            onPointerUp={(event) => gestures.add({ kind: "release", ...positionOf(event), button: BUTTONS[event.button] ?? "left", clicks: lastClick.current.clicks })}
            onPointerMove={(event) => {
              if (event.timeStamp - lastMove.current < MOVE_INTERVAL_MS) return;
              lastMove.current = event.timeStamp;
              gestures.add({ kind: "move", ...positionOf(event) });
            }}
            onKeyDown={(event) => onKey(event, "key_down")}
            onKeyUp={(event) => onKey(event, "key_up")}
            onPaste={(event) => gestures.add({ kind: "text", text: event.clipboardData.getData("text").slice(0, 10_000) })}
          >
            {picture ? (
              <img src={picture} alt="The page as it is now, nothing covered" draggable={false} className="block w-full" />
            ) : (
              <p className="py-16 text-center text-sm text-soft">{dialog ? "The page waits for an answer." : "Waiting for the first picture…"}</p>
            )}
          </div>
        </WindowFrame>
      </div>
    </Panel>
  );
}
