import { ApiError, pathOf, request } from './http';
import type { Page, QueueRow, Setting } from './types';

/** The filters, order and page of the list of queues, by the names of the server's parameters. */
export interface QueueQuery {
  readonly vhost: string;
  readonly name: string;
  readonly dead: boolean;
  readonly sort: string;
  readonly sort_reverse: boolean;
  readonly page: number;
}

/** Rows on a page of the list. */
export const queuesOnPage = 100;

/** Loads a page of the list of queues. */
export function loadQueues(query: QueueQuery, signal: AbortSignal): Promise<Page<QueueRow>> {
  const { vhost, name, dead, sort, sort_reverse, page } = query;
  return request<Page<QueueRow>>('dlx/queues', {
    query: {
      vhost,
      name,
      sort,
      dead: dead ? true : undefined,
      sort_reverse: sort !== '' && sort_reverse ? true : undefined,
      page,
      page_size: queuesOnPage,
      lengths: true,
    },
    signal,
  });
}

/** Where the dead letters of a queue go. */
export interface DeadLettersTo {
  readonly exchange: string;
  /** Null: each message keeps its own routing key. */
  readonly routing_key: string | null;
  readonly by: string;
  /** The name of the policy that sets the exchange, or null. */
  readonly policy?: string | null;
  readonly reaches: readonly { readonly queue: string; readonly certain: boolean }[];
  /** Reasons of death that need no rejection. */
  readonly automatic: readonly string[];
  /** Milliseconds until a message expires here. */
  readonly delay: number | null;
  /** True: the exchange does not exist. */
  readonly dangling: boolean;
}

/** A queue whose dead letters come here, and for which reasons they can. */
export interface DeadLettersFrom {
  readonly queue: string;
  readonly exchange: string;
  /** Null: each message keeps its own routing key. */
  readonly routing_key: string | null;
  /** Milliseconds until a message expires there. */
  readonly delay: number | null;
  readonly reasons: readonly string[];
  readonly certain: boolean;
}

/** A binding, as `/api/queues/{vhost}/{name}/bindings` shows it. */
export interface QueueBinding {
  readonly source: string;
  readonly routing_key: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly properties_key: string;
}

export interface QueueConsumer {
  readonly consumer_tag: string;
  readonly channel: string;
  readonly user: string;
  readonly ack_required: boolean;
  readonly prefetch_count: number;
}

/** The answer of `GET /api/dlx/queues/{vhost}/{name}`. */
export interface QueueDetails extends QueueRow {
  readonly settings: readonly Setting[];
  readonly dead_letters_to: DeadLettersTo | null;
  readonly dead_letters_from: readonly DeadLettersFrom[];
  readonly bindings: readonly QueueBinding[];
  readonly consumers_list: readonly QueueConsumer[];
}

interface Samples {
  readonly samples?: readonly { readonly sample: number; readonly timestamp: number }[];
}

/** The lengths of a queue in the last five minutes, oldest first. `time` is milliseconds since 1970. */
export async function loadLengths(
  vhost: string,
  name: string,
  signal: AbortSignal,
): Promise<readonly { readonly time: number; readonly ready: number; readonly unacknowledged: number }[]> {
  const { messages_ready_details: ready, messages_unacknowledged_details: unacked } = await request<
    Readonly<Record<'messages_ready_details' | 'messages_unacknowledged_details', Samples | undefined>>
  >(pathOf('queues', vhost, name), {
    query: {
      lengths_age: 300,
      lengths_incr: 5,
      columns: 'messages_ready_details,messages_unacknowledged_details',
    },
    signal,
  });
  const others = new Map(unacked?.samples?.map(({ timestamp, sample }) => [timestamp, sample]));
  return (ready?.samples ?? [])
    .map(({ timestamp, sample }) => ({ time: timestamp, ready: sample, unacknowledged: others.get(timestamp) ?? 0 }))
    .sort((one, other) => one.time - other.time);
}

export const loadQueue = (vhost: string, name: string, signal: AbortSignal): Promise<QueueDetails> =>
  request<QueueDetails>(pathOf('dlx', 'queues', vhost, name), { signal });

/** A handler of the application in whose process the API runs. Times are milliseconds since 1970. */
export interface QueueHandler {
  /** Class and method. */
  readonly handler: string;
  readonly vhost: string;
  readonly queue: string;
  readonly state: 'running' | 'open' | 'probing' | 'paused';
  readonly circuit: string | null;
  /** Why it is not running; null also for a user who may not see it. */
  readonly reason: string | null;
  readonly since: number | null;
  readonly next_probe: number | null;
  /** This user may pause it. */
  readonly may_pause: boolean;
}

/** The path of the pause of a handler. */
export const pathOfHandlerPause = (handler: string): string => pathOf('dlx', 'handlers', handler, 'pause');

/** The handlers of the application at this port. Undefined where the port knows none: an application on a server, or an earlier version. */
export async function loadHandlers(signal: AbortSignal): Promise<readonly QueueHandler[] | undefined> {
  try {
    return (await request<{ items: readonly QueueHandler[] }>('dlx/handlers', { signal })).items;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 501)) return undefined;
    throw error;
  }
}
