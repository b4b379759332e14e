import { useEffect, useRef } from "react";

export type Keys = Record<string, (event: KeyboardEvent) => void>;

/** Whether the key belongs to a field, or to a dialog that is open. */
function isTaken(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return true;
  if (document.querySelector("[role=dialog][data-state=open], [role=menu][data-state=open]")) return true;
  const target = event.target as HTMLElement | null;
  return !!target?.closest("input, textarea, select, [contenteditable=true], [role=slider]");
}

/** Single keys for a page. They do nothing while text is typed or a dialog is open; held keys act once. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    function press(event: KeyboardEvent): void {
      const act = latest.current[event.key];
      if (!act || isTaken(event) || (event.repeat && !REPEATED.has(event.key))) return;
      event.preventDefault();
      act(event);
    }
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
}

const REPEATED = new Set(["j", "k", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]);
