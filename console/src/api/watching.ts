import { useEffect, useState, useSyncExternalStore } from "react";
import { address } from "./client";

const REST = 3000;

/** One picture, as an address that this page may show. Release it when it is not shown any more. */
export interface Picture {
  number: string;
  url: string;
}

/** The next picture at this path; null if there is no other; seconds to wait if there is nothing to watch. */
async function nextPicture(path: string, after: string, signal: AbortSignal): Promise<Picture | number | null> {
  const answer = await fetch(address(`${path}?after=${encodeURIComponent(after)}`), { credentials: "same-origin", cache: "no-store", signal });
  if (answer.status === 204) return Number(answer.headers.get("Retry-After")) * 1000 || null;
  if (!answer.ok) return REST;
  return { number: (answer.headers.get("ETag") ?? "").replaceAll('"', ""), url: URL.createObjectURL(await answer.blob()) };
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function subscribe(changed: () => void): () => void {
  document.addEventListener("visibilitychange", changed);
  return () => document.removeEventListener("visibilitychange", changed);
}

const isVisible = () => document.visibilityState === "visible";

/** The latest picture at this path, as long as it is wanted and this page is visible: nothing is pictured for a page that is not visible. */
export function usePicture(path: string, wanted: boolean): string {
  const visible = useSyncExternalStore(subscribe, isVisible);
  const [shown, setShown] = useState("");
  const watching = wanted && visible;
  useEffect(() => {
    if (!watching) return;
    const leaving = new AbortController();
    let latest: Picture = { number: "", url: "" };
    const watch = async () => {
      while (!leaving.signal.aborted) {
        const next = await nextPicture(path, latest.number, leaving.signal).catch(() => REST);
        if (leaving.signal.aborted) {
          if (typeof next === "object" && next) URL.revokeObjectURL(next.url);
        } else if (typeof next === "number") {
          if (latest.url) setShown("");
          await pause(next);
        } else if (next) {
          const before = latest.url;
          latest = next;
          setShown(next.url);
          if (before) setTimeout(() => URL.revokeObjectURL(before), 1000);
        }
      }
    };
    void watch();
    return () => {
      leaving.abort();
      setShown("");
      if (latest.url) URL.revokeObjectURL(latest.url);
    };
  }, [path, watching]);
  return watching ? shown : "";
}
