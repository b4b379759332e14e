import { useEffect, useState, useSyncExternalStore } from "react";
import { apiUrl } from "./client";

const RETRY_MS = 3000;

/** A picture as an object URL. Revoke the URL when the picture is no longer shown. */
export interface Picture {
  number: string;
  url: string;
}

/** Waits for the next picture at this path. Returns null if it did not change, or the milliseconds to wait if there is no picture. */
async function fetchNextPicture(path: string, after: string, signal: AbortSignal): Promise<Picture | number | null> {
  const response = await fetch(apiUrl(`${path}?after=${encodeURIComponent(after)}`), { credentials: "same-origin", cache: "no-store", signal });
  if (response.status === 204) return Number(response.headers.get("Retry-After")) * 1000 || null;
  if (!response.ok) return RETRY_MS;
  return { number: (response.headers.get("ETag") ?? "").replaceAll('"', ""), url: URL.createObjectURL(await response.blob()) };
}

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function subscribeToVisibility(changed: () => void): () => void {
  document.addEventListener("visibilitychange", changed);
  return () => document.removeEventListener("visibilitychange", changed);
}

const isVisible = () => document.visibilityState === "visible";

/** Keeps the latest picture at this path. A hidden page does not ask, so that the server takes no pictures for it. */
export function useLivePicture(path: string, enabled: boolean): string {
  const visible = useSyncExternalStore(subscribeToVisibility, isVisible);
  const [url, setUrl] = useState("");
  const watching = enabled && visible;
  useEffect(() => {
    if (!watching) return;
    const unmounted = new AbortController();
    let latest: Picture = { number: "", url: "" };
    const watch = async () => {
      while (!unmounted.signal.aborted) {
        const next = await fetchNextPicture(path, latest.number, unmounted.signal).catch(() => RETRY_MS);
        if (unmounted.signal.aborted) {
          if (typeof next === "object" && next) URL.revokeObjectURL(next.url);
        } else if (typeof next === "number") {
          if (latest.url) setUrl("");
          await sleep(next);
        } else if (next) {
          const previous = latest.url;
          latest = next;
          setUrl(next.url);
          if (previous) setTimeout(() => URL.revokeObjectURL(previous), 1000);
        }
      }
    };
    void watch();
    return () => {
      unmounted.abort();
      setUrl("");
      if (latest.url) URL.revokeObjectURL(latest.url);
    };
  }, [path, watching]);
  return watching ? url : "";
}
