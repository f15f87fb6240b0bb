import { request } from './http';
import type { DeathReason, RedriveTask } from './types';

/** Something that an operator should look at. `text` says what. */
export interface Alarm {
  readonly kind: 'growing' | 'loop' | 'stuck_dlx' | 'memory' | 'disk' | 'stalled' | 'paused';
  readonly vhost: string | null;
  readonly queue: string | null;
  readonly text: string;
}

/** A dead-letter queue with many messages. */
export interface TopQueue {
  readonly vhost: string;
  readonly name: string;
  readonly messages_ready: number;
  readonly oldest: number | null;
  readonly dead_in_rate: number | null;
}

/** The rates of the last minutes, oldest first. */
export type RatesSeries = { readonly interval_ms: number } & Readonly<
  Record<DeathReason | 'redriven', readonly number[]>
>;

/** The answer of `GET /api/dlx/overview`. Rates are per second; the last sample of a series is the latest. */
export interface Overview {
  readonly totals: {
    readonly queues: number;
    readonly dead_letter_queues: number;
    /** Queues that only headers of their next message call dead-letter queues; no other number counts them. */
    readonly unproven_queues: number;
    readonly messages_ready: number;
    readonly messages_unacknowledged: number;
    readonly dead_letters: number;
  };
  readonly dead_letter_rates: Readonly<Record<DeathReason, number>>;
  readonly rates_series: RatesSeries;
  readonly top: readonly TopQueue[];
  readonly redrives: readonly RedriveTask[];
  /** The first alarms; `more_alarms` is the number of the others. */
  readonly alarms: readonly Alarm[];
  readonly more_alarms?: number;
}

/** Loads the overview of a virtual host, or of all with `''`. */
export const loadOverview = (vhost: string, signal: AbortSignal): Promise<Overview> =>
  request<Overview>('dlx/overview', { query: { vhost }, signal });
