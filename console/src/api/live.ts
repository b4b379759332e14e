import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { address } from "./client";
import { runQuery } from "./queries";
import { follow, type Connection } from "./sse";
import { Turns } from "./turns";
import type { StreamMessage, TurnMessage } from "./types";

/** Milliseconds between two requests for what the turns have changed. */
const REFRESH = 400;

export interface Live {
  turns: readonly TurnMessage[];
  connection: Connection;
  notice: string;
}

/** The turns of a run, live, once `begin`; what else is shown of it is asked for again when they change it. */
export function useLive(run: string, begin = true): Live {
  const client = useQueryClient();
  const turns = useMemo(() => new Turns(), [run]);
  const [connection, setConnection] = useState<Connection>("connecting");

  useEffect(() => {
    if (!begin) return;
    /** Turns up to here are in what is shown already. */
    const known = () => client.getQueryData(runQuery(run).queryKey)?.seq ?? 0;
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
    const show = () => {
      frame = 0;
      turns.publish();
      if (stale && !timer) timer = window.setTimeout(refresh, REFRESH);
      if (planned) void client.invalidateQueries({ queryKey: ["plans", run] });
      stale = planned = false;
    };
    const stop = follow(address(`runs/${encodeURIComponent(run)}/events`), {
      after: "",
      onConnection: setConnection,
      onMessage: ({ data }) => {
        const message = JSON.parse(data) as StreamMessage;
        turns.take(message);
        const news = message.type !== "turn" || message.seq > known();
        stale ||= news;
        planned ||= news && (message.type !== "turn" || !!message.made_plan);
        if (message.type === "end") queueMicrotask(() => stop());
        frame ||= requestAnimationFrame(show);
      },
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [client, run, turns, begin]);

  const all = useSyncExternalStore(turns.subscribe, () => turns.all);
  return { turns: all, connection, notice: turns.notice };
}
