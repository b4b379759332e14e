/** A server-sent event. */
export interface Message {
  id: string;
  event: string;
  data: string;
}

/** Parses the text of an event stream. An incomplete message is kept until the rest of it arrives. */
export class MessageParser {
  private rest = "";
  private id = "";
  private event = "";
  private data: string[] = [];

  parse(text: string): Message[] {
    const messages: Message[] = [];
    this.rest += text;
    for (;;) {
      const end = this.rest.search(/\r\n|\n|\r(?!$)/);
      if (end < 0) return messages;
      const line = this.rest.slice(0, end);
      this.rest = this.rest.slice(end + (this.rest.startsWith("\r\n", end) ? 2 : 1));
      if (line === "") {
        if (this.data.length) messages.push({ id: this.id, event: this.event || "message", data: this.data.join("\n") });
        this.event = "";
        this.data = [];
      } else this.parseLine(line);
    }
  }

  private parseLine(line: string): void {
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
  /** The id of the last known message; empty to start from the beginning. */
  after: string;
  onMessage: (message: Message) => void;
  onConnection: (state: Connection) => void;
}

const MIN_RETRY_MS = 250;
const MAX_RETRY_MS = 5000;
/** The server sends a comment at least every 15 s, so a stream that is silent for this long is dead. */
const SILENCE_TIMEOUT_MS = 40_000;

/**
 * Reads a stream until it is closed. If the connection is lost, it reconnects and continues after the last message.
 *
 * `EventSource` is not used because it gives up after one error response and cannot start in the middle of a stream. While the page is
 * hidden, the connection is closed: a browser allows only six connections to a server, shared by all tabs.
 */
export function followStream(url: string, options: StreamOptions): () => void {
  let lastId = options.after;
  let stopped = false;
  let retryDelay = MIN_RETRY_MS;
  let current: AbortController | null = null;
  let retryTimer = 0;

  const isHidden = () => document.visibilityState === "hidden";

  async function connect(): Promise<void> {
    if (stopped || current || isHidden()) return;
    const controller = new AbortController();
    current = controller;
    let silenceTimer = 0;
    const resetSilenceTimer = () => {
      clearTimeout(silenceTimer);
      silenceTimer = window.setTimeout(() => controller.abort(), SILENCE_TIMEOUT_MS);
    };
    try {
      options.onConnection("connecting");
      resetSilenceTimer();
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (lastId) headers["Last-Event-ID"] = lastId;
      const response = await fetch(url, { headers, signal: controller.signal, cache: "no-store", credentials: "same-origin" });
      if (response.status === 204 || response.status === 410) return stop(); // 410: the journal of the run was deleted
      if (!response.ok || !response.body) throw new Error(`answered ${response.status}`);
      options.onConnection("live");
      retryDelay = MIN_RETRY_MS;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new MessageParser();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        resetSilenceTimer();
        for (const message of parser.parse(value)) {
          if (stopped) return;
          if (message.id) lastId = message.id;
          options.onMessage(message);
        }
      }
    } catch {
      // The connection was lost; reconnect below.
    } finally {
      clearTimeout(silenceTimer);
      current = null;
      if (!stopped) reconnectLater();
    }
  }

  function reconnectLater(): void {
    options.onConnection("lost");
    clearTimeout(retryTimer);
    retryTimer = window.setTimeout(() => void connect(), retryDelay);
    retryDelay = Math.min(retryDelay * 2, MAX_RETRY_MS);
  }

  function onVisibilityOrNetworkChange(): void {
    if (isHidden()) current?.abort();
    else {
      retryDelay = MIN_RETRY_MS;
      void connect();
    }
  }

  function stop(): void {
    stopped = true;
    clearTimeout(retryTimer);
    current?.abort();
    document.removeEventListener("visibilitychange", onVisibilityOrNetworkChange);
    window.removeEventListener("online", onVisibilityOrNetworkChange);
    options.onConnection("closed");
  }

  document.addEventListener("visibilitychange", onVisibilityOrNetworkChange);
  window.addEventListener("online", onVisibilityOrNetworkChange);
  void connect();
  return stop;
}
