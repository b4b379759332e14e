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
      for (const notify of listeners) notify();
    }, 1000);
  }
  return () => {
    listeners.delete(listener);
    if (!listeners.size) clearInterval(timer);
  };
}

/** The current time in seconds. One timer for the whole page updates it every second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}
