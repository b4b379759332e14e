import { useNow } from "./use-now";
import { formatAgo, formatClock, formatDuration, formatDateTime } from "./format";

/** How long ago `at` was: `12 min ago`. */
export function TimeAgo({ at }: { at: number }) {
  const now = useNow();
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={formatDateTime(at)}>
      {formatAgo(at, now)}
    </time>
  );
}

/** The time of day, with the date as a tooltip. */
export function ClockTime({ at }: { at: number }) {
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={formatDateTime(at)}>
      {formatClock(at)}
    </time>
  );
}

/** The time since `at`, counting up: `3 min`. */
export function TimeSince({ at }: { at: number }) {
  const now = useNow();
  return <time title={formatDateTime(at)}>{formatDuration(Math.floor(Math.max(0, now - at)) || 0)}</time>;
}
