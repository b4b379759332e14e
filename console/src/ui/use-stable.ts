import { useEffect, useState } from "react";

const STABLE_AFTER_MS = 700;

/**
 * Whether the content with this key has been shown unchanged for long enough, on a visible page. If a card changes under the pointer, a
 * click that was meant for the previous card must not approve the new one.
 */
export function useStable(key: string): boolean {
  const [stableKey, setStableKey] = useState("");
  useEffect(() => {
    let timer = 0;
    const restart = () => {
      clearTimeout(timer);
      setStableKey("");
      if (document.visibilityState === "visible") timer = window.setTimeout(() => setStableKey(key), STABLE_AFTER_MS);
    };
    restart();
    document.addEventListener("visibilitychange", restart);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", restart);
    };
  }, [key]);
  return stableKey === key;
}
