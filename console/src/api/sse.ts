/** One message of a stream of server-sent events. */
export interface Message {
  id: string;
  event: string;
  data: string;
}

/** Splits the text of an event stream into messages; keeps what is not complete for the next part. */
export class Messages {
  private rest = "";
  private id = "";
  private event = "";
  private data: string[] = [];

  take(text: string): Message[] {
    const found: Message[] = [];
    this.rest += text;
    for (;;) {
      const end = this.rest.search(/\r\n|\n|\r(?!$)/);
      if (end < 0) return found;
      const line = this.rest.slice(0, end);
      this.rest = this.rest.slice(end + (this.rest.startsWith("\r\n", end) ? 2 : 1));
      if (line === "") {
        if (this.data.length) found.push({ id: this.id, event: this.event || "message", data: this.data.join("\n") });
        this.event = "";
        this.data = [];
      } else this.read(line);
    }
  }

  private read(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.data.push(value);
    else if (name === "event") this.event = value;
    else if (name === "id" && !value.includes("\0")) this.id = value;
  }
}

export type Connection = "connecting" | "live" | "lost" | "closed";

export interface StreamOptions {
  /** The id to continue after; empty: from the beginning. */
  after: string;
  onMessage: (message: Message) => void;
  onConnection: (state: Connection) => void;
}

const FIRST_WAIT = 250;
const LONGEST_WAIT = 5000;
/** The server sends a comment at least every 15 s; a stream that is silent for longer is dead. */
const SILENCE = 40_000;

/**
 * Follows a stream until it is closed, and reconnects after the last message that arrived. In place of `EventSource`, which gives up
 * for good when the server answers once with an error, and cannot begin in the middle. While the page is hidden it is not connected:
 * a browser allows six connections to a server, for all tabs together.
 */
export function follow(url: string, options: StreamOptions): () => void {
  let last = options.after;
  let stopped = false;
  let wait = FIRST_WAIT;
  let attempt: AbortController | null = null;
  let timer = 0;

  const hidden = () => document.visibilityState === "hidden";

  async function connect(): Promise<void> {
    if (stopped || attempt || hidden()) return;
    const mine = new AbortController();
    attempt = mine;
    let silence = 0;
    const alive = () => {
      clearTimeout(silence);
      silence = window.setTimeout(() => mine.abort(), SILENCE);
    };
    try {
      options.onConnection("connecting");
      alive();
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (last) headers["Last-Event-ID"] = last;
      const answer = await fetch(url, { headers, signal: mine.signal, cache: "no-store", credentials: "same-origin" });
      if (answer.status === 204 || answer.status === 410) return stop(); // 410: its journal was deleted
      if (!answer.ok || !answer.body) throw new Error(`answered ${answer.status}`);
      options.onConnection("live");
      wait = FIRST_WAIT;
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      const messages = new Messages();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        alive();
        for (const message of messages.take(value)) {
          if (stopped) return;
          if (message.id) last = message.id;
          options.onMessage(message);
        }
      }
    } catch {
      // A lost connection is taken up again below.
    } finally {
      clearTimeout(silence);
      attempt = null;
      if (!stopped) again();
    }
  }

  function again(): void {
    options.onConnection("lost");
    clearTimeout(timer);
    timer = window.setTimeout(() => void connect(), wait);
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }

  function wake(): void {
    if (hidden()) attempt?.abort();
    else {
      wait = FIRST_WAIT;
      void connect();
    }
  }

  function stop(): void {
    stopped = true;
    clearTimeout(timer);
    attempt?.abort();
    document.removeEventListener("visibilitychange", wake);
    window.removeEventListener("online", wake);
    options.onConnection("closed");
  }

  document.addEventListener("visibilitychange", wake);
  window.addEventListener("online", wake);
  void connect();
  return stop;
}
