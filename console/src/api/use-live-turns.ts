import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { apiUrl } from "./client";
import { runQuery } from "./queries";
import { followStream, type Connection } from "./sse";
import { Turns } from "./turns";
import type { StreamMessage, TurnMessage } from "./types";

/** Milliseconds between two refreshes of queries whose data the turns have changed. */
const REFRESH_MS = 400;

export interface LiveTurns {
  turns: readonly TurnMessage[];
  connection: Connection;
  notice: string;
}

/** Follows the turns of a run, and refreshes the queries whose data a turn changes. */
export function useLiveTurns(run: string, enabled = true): LiveTurns {
  const client = useQueryClient();
  const turns = useMemo(() => new Turns(), [run]);
  const [connection, setConnection] = useState<Connection>("connecting");

  useEffect(() => {
    if (!enabled) return;
    /** The last turn that the shown data already includes. */
    const lastKnownSeq = () => client.getQueryData(runQuery(run).queryKey)?.seq ?? 0;
    let frame = 0;
    let stale = false;
    let timer = 0;
    const refresh = () => {
      timer = 0;
      void client.invalidateQueries({ queryKey: ["run", run] });
      void client.invalidateQueries({ queryKey: ["questions"] });
      void client.invalidateQueries({ queryKey: ["runs"] });
    };
    let planned = false;
    const render = () => {
      frame = 0;
      turns.publish();
      if (stale && !timer) timer = window.setTimeout(refresh, REFRESH_MS);
      if (planned) void client.invalidateQueries({ queryKey: ["plans", run] });
      stale = planned = false;
    };
    const stop = followStream(apiUrl(`runs/${encodeURIComponent(run)}/events`), {
      after: "",
      onConnection: setConnection,
      onMessage: ({ data }) => {
        const message = JSON.parse(data) as StreamMessage;
        turns.add(message);
        const isNew = message.type !== "turn" || message.seq > lastKnownSeq();
        stale ||= isNew;
        planned ||= isNew && (message.type !== "turn" || !!message.made_plan);
        if (message.type === "end") queueMicrotask(() => stop());
        frame ||= requestAnimationFrame(render);
      },
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [client, run, turns, enabled]);

  const all = useSyncExternalStore(turns.subscribe, () => turns.all);
  return { turns: all, connection, notice: turns.notice };
}
