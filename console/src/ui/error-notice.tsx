import { CircleAlert } from "lucide-react";
import { ApiError } from "../api/client";
import { UntrustedText } from "./untrusted-text";

/** Shows what went wrong and what to do next. */
export function ErrorNotice({ error }: { error: unknown }) {
  if (!error) return null;
  const problem = error instanceof ApiError ? error.problem : null;
  const text = problem ? problem.detail : error instanceof Error ? error.message : String(error);
  return (
    <div role="alert" className="flex items-start gap-2.5 rounded-lg bg-bad-wash px-3.5 py-2.5 text-sm text-bad">
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0">
        <UntrustedText text={text} />
        {problem?.next && (
          <div className="mt-0.5 text-ink">
            <UntrustedText text={problem.next} />
          </div>
        )}
      </div>
    </div>
  );
}
