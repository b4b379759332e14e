import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let now = Date.now() / 1000;
let timer = 0;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) {
    now = Date.now() / 1000;
    timer = window.setInterval(() => {
      now = Date.now() / 1000;
      for (const each of listeners) each();
    }, 1000);
  }
  return () => {
    listeners.delete(listener);
    if (!listeners.size) clearInterval(timer);
  };
}

/** The time in seconds, refreshed every second by one timer for the whole page. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}
