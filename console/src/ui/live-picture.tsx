import type { ReactNode } from "react";
import type { Observation } from "../api/types";
import { Pulse } from "./components";
import { UntrustedText } from "./untrusted-text";

/** A window frame with a title bar around a picture of a world. */
export function WindowFrame({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <figure className="min-w-0">
      <figcaption className="flex items-center gap-2 rounded-t-lg border border-b-0 bg-sunken px-3 py-1.5 text-xs text-soft">
        <span className="flex gap-1" aria-hidden>
          <span className="size-2 rounded-full bg-line" />
          <span className="size-2 rounded-full bg-line" />
          <span className="size-2 rounded-full bg-line" />
        </span>
        {title}
      </figcaption>
      <div className="overflow-hidden rounded-b-lg border bg-panel">{children}</div>
    </figure>
  );
}

/** The current picture of the world, with secrets covered. */
export function LivePicture({ url, observation }: { url: string; observation?: Observation | null }) {
  return (
    <WindowFrame
      title={
        <>
          <span className="min-w-0 truncate font-medium text-ink">
            <UntrustedText text={observation?.surface.title || "the page"} />
          </span>
          <span className="ml-auto flex shrink-0 items-center gap-1.5 font-medium text-good" data-live>
            <Pulse />
            live, secrets covered
          </span>
        </>
      }
    >
      <img src={url} alt="The page as it is now, with secrets covered" className="block w-full" />
    </WindowFrame>
  );
}
