import { useEffect } from 'preact/hooks';
import { refusal, send } from './http';
import { wait } from './wait';

/** Counters of a queue, as `GET /api/dlx/events` shows them. */
export interface LiveQueue {
  readonly vhost: string;
  readonly name: string;
  readonly messages_ready: number;
  readonly messages_unacknowledged: number;
  readonly messages_dlx: number;
  readonly consumers: number;
  readonly dead_letters_in: number;
  readonly rejected: number;
  readonly expired: number;
  readonly maxlen: number;
  readonly delivery_limit: number;
  readonly redriven: number;
  readonly discarded: number;
  readonly lost: number;
}

/** An event of the stream. The first one, `state`, has all queues of the request; `change` has those that changed. */
export interface LiveEvent {
  readonly kind: string;
  readonly time: number;
  readonly queues: readonly LiveQueue[];
  readonly gone: readonly { readonly vhost: string; readonly name: string }[];
  readonly redrives: readonly { readonly id: string }[];
}

/** Which events: of one virtual host, of one queue; `interval` in milliseconds. */
export interface LiveQuery {
  readonly vhost?: string;
  readonly queue?: string;
  readonly interval?: number;
}

/** The shortest and the longest pause before the next try to connect, in milliseconds. */
const pauses = { shortest: 1_000, longest: 15_000 };

/**
 * Calls `take` with each event while the view is shown. `query` is undefined: no stream. A hidden tab has no stream either: a
 * browser opens six connections to a server at most, and the streams of six tabs would leave none for requests.
 */
export function useEvents(query: LiveQuery | undefined, take: (event: LiveEvent) => void): void {
  const key = query === undefined ? undefined : JSON.stringify(query);
  useEffect(() => {
    if (query === undefined) return undefined;
    let controller: AbortController | undefined;
    const change = (): void => {
      controller?.abort();
      controller = undefined;
      if (document.hidden) return;
      controller = new AbortController();
      void follow(query, take, controller.signal);
    };
    change();
    document.addEventListener('visibilitychange', change);
    return () => {
      document.removeEventListener('visibilitychange', change);
      controller?.abort();
    };
  }, [key]);
}

/** Reads the stream until the signal aborts, and connects again after a loss. EventSource cannot send credentials. */
export async function follow(query: LiveQuery, take: (event: LiveEvent) => void, signal: AbortSignal): Promise<void> {
  let pause = pauses.shortest;
  while (!signal.aborted) {
    try {
      const response = await send('dlx/events', { query: { ...query }, signal });
      if (!response.ok) throw await refusal(response);
      for await (const event of eventsOf(response.body)) {
        if (signal.aborted) return;
        taken(event, take);
        pause = pauses.shortest;
      }
    } catch {
      // Refused, for example because of too many streams, or lost. The loop tries again after a pause.
    }
    await wait(pause, signal);
    pause = Math.min(pause * 2, pauses.longest);
  }
}

/** Gives an event to its view. A fault of the view is reported as one, and must not look like a lost connection. */
function taken(event: LiveEvent, take: (event: LiveEvent) => void): void {
  try {
    take(event);
  } catch (error) {
    reportError(error);
  }
}

/** The events of a response. The connection is closed when its reader stops, also by an error. */
async function* eventsOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<LiveEvent> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (text + decoder.decode(value, { stream: true })).split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const event = parseEvent(part);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Reads one event of the stream. @returns undefined for a comment, which only keeps the connection open */
export function parseEvent(text: string): LiveEvent | undefined {
  let kind = 'message';
  let data = '';
  for (const line of text.split('\n')) {
    if (line.startsWith('event:')) kind = line.slice(6).trim();
    else if (line.startsWith('data:')) data += line.slice(5).trim();
  }
  if (data === '') return undefined;
  return { gone: [], redrives: [], queues: [], ...(JSON.parse(data) as object), kind } as unknown as LiveEvent;
}
