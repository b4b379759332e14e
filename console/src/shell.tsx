import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { GraduationCap, Inbox, List, Moon, Server, Sun } from "lucide-react";
import { useEffect } from "react";
import { meQuery, questionsQuery } from "./api/queries";
import { useTheme } from "./ui/theme";
import { joinClasses, type IconType } from "./ui/components";
import { UntrustedText } from "./ui/untrusted-text";

const NAVIGATION: { to: string; name: string; icon: IconType }[] = [
  { to: "/", name: "Runs", icon: List },
  { to: "/inbox", name: "Inbox", icon: Inbox },
  { to: "/lessons", name: "Lessons", icon: GraduationCap },
  { to: "/fleet", name: "Fleet", icon: Server },
];

export function Logo({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 32 32" aria-hidden className={className}>
      <path d="M3 27 L14 16" stroke="currentColor" strokeWidth="3.4" strokeLinecap="round" fill="none" />
      <path d="M14 16 L27 4" stroke="currentColor" strokeWidth="2" strokeDasharray="0.5 4.6" strokeLinecap="round" fill="none" opacity="0.7" />
      <path d="M14 16 L29 20" stroke="currentColor" strokeWidth="3.4" strokeLinecap="round" fill="none" />
      <circle cx="14" cy="16" r="3.8" fill="#f0a02c" />
    </svg>
  );
}

/** The frame of every page: navigation, number of open questions, theme switch. On a phone the navigation is at the bottom, in reach of the thumb. */
export function Shell() {
  const questions = useQuery(questionsQuery());
  const { data: me } = useQuery(meQuery());
  const waiting = questions.data?.questions.length ?? 0;
  const path = useRouterState({ select: (state) => state.location.pathname });
  const [theme, toggleTheme] = useTheme();

  useEffect(() => {
    document.title = waiting ? `(${waiting}) Midcourse` : "Midcourse";
  }, [waiting]);

  const links = NAVIGATION.map(({ to, name, icon: NavIcon }) => {
    const isCurrent = to === "/" ? path === "/" || path.startsWith("/runs") : path.startsWith(to);
    return (
      <Link
        key={to}
        to={to}
        aria-current={isCurrent ? "page" : undefined}
        className={joinClasses(
          "relative flex items-center gap-1.5 rounded-lg px-3 py-1.5 text-sm font-medium max-sm:min-w-16 max-sm:flex-col max-sm:gap-0.5 max-sm:text-xs",
          isCurrent ? "text-accent sm:bg-accent-wash" : "text-soft hover:bg-sunken hover:text-ink",
        )}
      >
        <NavIcon aria-hidden className="size-4.5 sm:hidden" />
        {name}
        {name === "Inbox" && waiting > 0 && (
          <span className="rounded-full bg-ask-wash px-1.5 text-xs font-semibold text-ask max-sm:absolute max-sm:-top-0.5 max-sm:right-1.5">
            {waiting}
            <span className="sr-only"> open</span>
          </span>
        )}
      </Link>
    );
  });

  return (
    <div className="flex min-h-dvh flex-col">
      <a
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
        className="sr-only z-50 rounded-lg bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to the content
      </a>
      <header className="sticky top-0 z-30 border-b bg-panel">
        <div className="mx-auto flex h-13 max-w-[88rem] items-center gap-4 px-4 sm:px-6">
          <Link to="/" className="flex items-center gap-2 text-[1.0625rem] font-semibold tracking-tight">
            <Logo className="size-6 text-accent" />
            Midcourse
          </Link>
          <nav aria-label="Main" className="hidden items-center gap-1 sm:flex">
            {links}
          </nav>
          <div className="ml-auto flex items-center gap-2">
            {me && (
              <span className="hidden text-xs text-soft md:inline">
                <UntrustedText text={me.name} /> @ <UntrustedText text={me.tenant} />, {me.role}
              </span>
            )}
            <button
              type="button"
              onClick={toggleTheme}
              aria-label={theme === "dark" ? "Use the light theme" : "Use the dark theme"}
              className="rounded-lg p-2 text-soft hover:bg-sunken hover:text-ink"
            >
              {theme === "dark" ? <Sun aria-hidden className="size-4.5" /> : <Moon aria-hidden className="size-4.5" />}
            </button>
          </div>
        </div>
      </header>
      <main id="main" tabIndex={-1} className="mx-auto w-full max-w-[88rem] flex-1 px-4 pt-5 pb-24 outline-none sm:px-6 sm:pt-7 sm:pb-12">
        <Outlet />
      </main>
      <nav aria-label="Main" className="fixed inset-x-0 bottom-0 z-30 flex justify-around border-t bg-panel px-2 pt-1.5 pb-[max(0.375rem,env(safe-area-inset-bottom))] sm:hidden">
        {links}
      </nav>
    </div>
  );
}
