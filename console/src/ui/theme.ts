import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark";

const KEY = "midcourse.theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function stored(): Theme | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null; // an exported page has no storage
  }
}

let chosen = stored();

const current = (): Theme => chosen ?? (system.matches ? "dark" : "light");

export function applyTheme(): void {
  document.documentElement.dataset.theme = current();
  for (const each of listeners) each();
}

system.addEventListener("change", applyTheme);

export function useTheme(): [Theme, () => void] {
  const theme = useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, current);
  return [
    theme,
    () => {
      chosen = theme === "dark" ? "light" : "dark";
      try {
        localStorage.setItem(KEY, chosen);
      } catch {
        // it holds until the page is closed
      }
      applyTheme();
    },
  ];
}
