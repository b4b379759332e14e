import type { Problem } from "./types";

/** A refusal by the server: what was wrong, and what to do next, in its own words. */
export class Refusal extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail || problem.title);
  }
}

/** Below wherever this page is served. */
export function address(path: string): string {
  return new URL(`api/v1/${path}`, document.baseURI).href;
}

export function pictureAddress(run: string, observation: string): string {
  return address(`runs/${encodeURIComponent(run)}/observations/${encodeURIComponent(observation)}/picture`);
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return read<T>(await reach(path, { signal }));
}

export async function send<T>(method: "POST" | "PUT" | "DELETE", path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<T> {
  return read<T>(
    await reach(path, {
      method,
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    }),
  );
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address(path), { credentials: "same-origin", cache: "no-store", ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Refusal(problem(0, "the server cannot be reached", "Start `midcourse serve` again; this page continues by itself."));
  }
}

async function read<T>(answer: Response): Promise<T> {
  if (answer.status === 204) return undefined as T;
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text) as T;
  let found: Problem;
  try {
    found = JSON.parse(text) as Problem;
  } catch {
    found = problem(answer.status, `the server answered ${answer.status}`, "");
  }
  throw new Refusal(found);
}

function problem(status: number, detail: string, next: string): Problem {
  return { type: "about:blank", title: detail, status, detail, next, code: "unavailable", changes: [], question: null };
}
