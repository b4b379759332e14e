import { useEffect, useState } from "react";

/** A card that changes under the pointer must not be approved by a click that was meant for the one before. */
export const SETTLE = 700;

/** Whether what is shown under this key has stood still long enough, on a page that is visible. */
export function useSettled(key: string): boolean {
  const [settled, setSettled] = useState("");
  useEffect(() => {
    let timer = 0;
    const wait = () => {
      clearTimeout(timer);
      setSettled("");
      if (document.visibilityState === "visible") timer = window.setTimeout(() => setSettled(key), SETTLE);
    };
    wait();
    document.addEventListener("visibilitychange", wait);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", wait);
    };
  }, [key]);
  return settled === key;
}
