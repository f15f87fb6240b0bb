import { request } from './http';

export interface TopologyExchange {
  readonly vhost: string;
  readonly name: string;
  readonly type: string;
  readonly alternate_exchange: string | null;
}

export interface TopologyQueue {
  readonly vhost: string;
  readonly name: string;
  readonly type: string;
  readonly messages_ready: number;
  readonly messages_unacknowledged: number;
  readonly consumers: number;
  readonly dead_letters_in: number;
}

export interface TopologyBinding {
  readonly vhost: string;
  readonly source: string;
  readonly destination: string;
  readonly destination_type: 'queue' | 'exchange';
  readonly routing_key: string;
}

/** Where the dead letters of a queue go. Without a routing key each message keeps its own. */
export interface DeadLetterEdge {
  readonly vhost: string;
  readonly queue: string;
  readonly exchange: string;
  readonly routing_key: string | null;
  readonly exchange_exists: boolean;
  readonly reaches: readonly { readonly queue: string; readonly certain: boolean }[];
  /** Reasons of death that need no rejection. */
  readonly automatic: readonly string[];
  /** Milliseconds until a message expires in the queue. */
  readonly delay: number | null;
}

export type LoopKind = 'retry' | 'spin' | 'dropped';

/** Queues that dead-letter into one another; the last one into the first. */
export interface TopologyLoop {
  readonly vhost: string;
  readonly queues: readonly string[];
  readonly exchanges: readonly string[];
  readonly kind: LoopKind;
  readonly certain: boolean;
  readonly delay: number;
}

/** A name of an exchange that does not exist, and the queue or exchange that has it. */
export interface DanglingExchange {
  readonly vhost: string;
  readonly kind: 'dead-letter-exchange' | 'alternate-exchange';
  readonly of: string;
  readonly exchange: string;
}

/** The answer of `GET /api/dlx/topology`. */
export interface Topology {
  /** False if the server left queues out. */
  readonly complete?: boolean;
  /** The number of all queues of the virtual host. */
  readonly total_queues?: number;
  readonly exchanges: readonly TopologyExchange[];
  readonly queues: readonly TopologyQueue[];
  readonly bindings: readonly TopologyBinding[];
  readonly dead_letter_edges: readonly DeadLetterEdge[];
  readonly loops: readonly TopologyLoop[];
  readonly dangling: readonly DanglingExchange[];
}

/** The most queues and exchanges of a picture. */
export const mostNodes = 150;

/** Loads the topology of a virtual host, or the part around a queue. */
export const loadTopology = (vhost: string, queue: string, signal: AbortSignal): Promise<Topology> =>
  request<Topology>('dlx/topology', { query: { vhost, queue, most: mostNodes }, signal });
