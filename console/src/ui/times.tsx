import { useNow } from "./now";
import { ago, clock, duration, moment } from "./time";

export function Ago({ at }: { at: number }) {
  const now = useNow();
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={moment(at)}>
      {ago(at, now)}
    </time>
  );
}

export function Clock({ at }: { at: number }) {
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={moment(at)}>
      {clock(at)}
    </time>
  );
}

/** `for 3 min`, counting. */
export function Since({ at }: { at: number }) {
  const now = useNow();
  return <time title={moment(at)}>{duration(Math.floor(Math.max(0, now - at)) || 0)}</time>;
}
