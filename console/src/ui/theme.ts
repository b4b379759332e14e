import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark";

const KEY = "midcourse.theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function readStoredTheme(): Theme | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null; // the browser may forbid access to its storage
  }
}

let chosen = readStoredTheme();

const currentTheme = (): Theme => chosen ?? (system.matches ? "dark" : "light");

export function applyTheme(): void {
  document.documentElement.dataset.theme = currentTheme();
  for (const notify of listeners) notify();
}

system.addEventListener("change", applyTheme);

/** The theme, and a function that switches it. */
export function useTheme(): [Theme, () => void] {
  const theme = useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, currentTheme);
  return [
    theme,
    () => {
      chosen = theme === "dark" ? "light" : "dark";
      try {
        localStorage.setItem(KEY, chosen);
      } catch {
        // then the choice lasts until the page is closed
      }
      applyTheme();
    },
  ];
}
