import type { Problem } from "./types";

/** The server refused a request or cannot be reached. `problem` says what was wrong and what to do next. */
export class ApiError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail || problem.title);
  }
}

/** The URL of an API path, relative to the address from which this page was served. */
export function apiUrl(path: string): string {
  return new URL(`api/v1/${path}`, document.baseURI).href;
}

export function pictureUrl(run: string, observation: string): string {
  return apiUrl(`runs/${encodeURIComponent(run)}/observations/${encodeURIComponent(observation)}/picture`);
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return parseResponse<T>(await request(path, { signal }));
}

export async function send<T>(method: "POST" | "PUT" | "DELETE", path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<T> {
  return parseResponse<T>(
    await request(path, {
      method,
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    }),
  );
}

async function request(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(apiUrl(path), { credentials: "same-origin", cache: "no-store", ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(makeProblem(0, "the server cannot be reached", "Start `midcourse serve` again; this page continues by itself."));
  }
}

async function parseResponse<T>(response: Response): Promise<T> {
  if (response.status === 204) return undefined as T;
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as T;
  let refused: Problem;
  try {
    refused = JSON.parse(text) as Problem;
  } catch {
    refused = makeProblem(response.status, `the server answered ${response.status}`, "");
  }
  throw new ApiError(refused);
}

function makeProblem(status: number, detail: string, next: string): Problem {
  return { type: "about:blank", title: detail, status, detail, next, code: "unavailable", changes: [], question: null };
}
