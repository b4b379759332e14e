import { Link } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";

/** The path to a page of a run. */
export function Breadcrumb({ run, page }: { run: string; page: string }) {
  return (
    <nav aria-label="Breadcrumb" className="flex flex-wrap items-center gap-1 text-sm text-soft">
      <Link to="/" className="hover:text-ink hover:underline">
        Runs
      </Link>
      <ChevronRight aria-hidden className="size-4" />
      <Link to="/runs/$run" params={{ run }} search={{}} className="font-mono text-xs hover:text-ink hover:underline">
        {run}
      </Link>
      <ChevronRight aria-hidden className="size-4" />
      <span aria-current="page">{page}</span>
    </nav>
  );
}
