import { useEffect, useRef } from "react";

export type Keys = Record<string, (event: KeyboardEvent) => void>;

/** Whether the key is part of a shortcut of the browser, or goes to a field or an open dialog. */
function isHandledElsewhere(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return true;
  if (document.querySelector("[role=dialog][data-state=open], [role=menu][data-state=open]")) return true;
  const target = event.target as HTMLElement | null;
  return !!target?.closest("input, textarea, select, [contenteditable=true], [role=slider]");
}

/** Binds single keys of a page. They do nothing while the user types text or a dialog is open. Only keys that move repeat when held. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      const action = latest.current[event.key];
      if (!action || isHandledElsewhere(event) || (event.repeat && !REPEATING.has(event.key))) return;
      event.preventDefault();
      action(event);
    }
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
}

const REPEATING = new Set(["j", "k", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]);
