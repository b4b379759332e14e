import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { get } from "./client";
import type {
  AuditVerdict,
  Effects,
  FleetView,
  LessonView,
  Me,
  Observation,
  PlanDiffView,
  PlanRow,
  QuestionPage,
  RunPage,
  RunState,
  RunView,
  SettingRow,
  TaskRow,
  TurnLine,
} from "./types";

const encode = encodeURIComponent;

export interface RunFilter {
  states: readonly RunState[];
  world?: string;
  q?: string;
}

const PAGE_SIZE = 50;

/** The runs in these states, newest first, in pages. */
export const runsQuery = ({ states, world, q }: RunFilter, refresh: number) =>
  infiniteQueryOptions({
    queryKey: ["runs", states, world ?? "", q ?? ""],
    queryFn: ({ signal, pageParam }) => {
      const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
      for (const state of states) query.append("state", state);
      if (world) query.set("world", world);
      if (q) query.set("q", q);
      if (pageParam) query.set("after", pageParam);
      return get<RunPage>(`runs?${query}`, signal);
    },
    initialPageParam: "",
    getNextPageParam: (page: RunPage) => page.next,
    refetchInterval: refresh,
    placeholderData: (previous) => previous,
    enabled: states.length > 0,
  });

export const runQuery = (run: string) =>
  queryOptions({
    queryKey: ["run", run],
    queryFn: ({ signal }) => get<RunView>(`runs/${encode(run)}`, signal),
  });

export const observationQuery = (run: string, id: string) =>
  queryOptions({
    queryKey: ["observation", run, id],
    queryFn: ({ signal }) => get<Observation>(`runs/${encode(run)}/observations/${encode(id)}`, signal),
    enabled: !!id,
    staleTime: Infinity,
  });

export const plansQuery = (run: string) =>
  queryOptions({
    queryKey: ["plans", run],
    queryFn: ({ signal }) => get<PlanRow[]>(`runs/${encode(run)}/plans?brief=true`, signal),
  });

/** The last lines of the log, to show while the stream of a long run is still loading. */
export const linesQuery = (run: string) =>
  queryOptions({
    queryKey: ["lines", run],
    queryFn: ({ signal }) => get<TurnLine[]>(`runs/${encode(run)}/lines`, signal),
    staleTime: Infinity,
  });

export const diffQuery = (run: string, before: number, after: number) =>
  queryOptions({
    queryKey: ["diff", run, before, after],
    queryFn: ({ signal }) => get<PlanDiffView>(`runs/${encode(run)}/plans/${after}/diff?since=${before}`, signal),
  });

export const effectsQuery = (run: string) =>
  queryOptions({
    queryKey: ["run", run, "effects"],
    queryFn: ({ signal }) => get<Effects>(`runs/${encode(run)}/effects`, signal),
  });

export const lessonsQuery = () =>
  queryOptions({ queryKey: ["lessons"], queryFn: ({ signal }) => get<LessonView[]>("lessons", signal), refetchInterval: 10_000 });

export const fleetQuery = () =>
  queryOptions({ queryKey: ["fleet"], queryFn: ({ signal }) => get<FleetView>("fleet", signal), refetchInterval: 3000 });

export const settingsQuery = () =>
  queryOptions({ queryKey: ["settings"], queryFn: ({ signal }) => get<SettingRow[]>("settings", signal), staleTime: 60_000 });

export const auditQuery = () =>
  queryOptions({ queryKey: ["audit"], queryFn: ({ signal }) => get<AuditVerdict>("audit/verdict", signal), staleTime: 10_000 });

export const questionsQuery = () =>
  queryOptions({
    queryKey: ["questions"],
    queryFn: ({ signal }) => get<QuestionPage>("questions", signal),
    refetchInterval: 1500,
  });

export const tasksQuery = () =>
  queryOptions({
    queryKey: ["tasks"],
    queryFn: ({ signal }) => get<TaskRow[]>("tasks", signal),
  });

export const meQuery = () =>
  queryOptions({
    queryKey: ["session"],
    queryFn: ({ signal }) => get<Me>("session", signal),
    retry: false,
    staleTime: 60_000,
  });
