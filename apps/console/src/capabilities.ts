import { signal } from '@preact/signals';
import { request } from './api/http';

/** What the console can show and do with the server, as `GET /api/dlx/capabilities` says. */
export interface Capabilities {
  /** `dlx-broker`, or `RabbitMQ`. */
  readonly product: string;
  readonly version: string;
  /** The management API of the server, if an application shows the broker of another process. */
  readonly server: string | null;
  /** Messages can be looked at without taking them. */
  readonly look: boolean;
  /** `first`: a redrive moves the messages at the head of a queue. `chosen`: any messages. */
  readonly redrive: 'chosen' | 'first';
  /** This user may edit messages before they are redriven. */
  readonly edits: boolean;
  /** Counters come as a stream of events. */
  readonly events: boolean;
  /** Deaths are counted by their reason, and the time of a death is known. */
  readonly deaths: boolean;
  /** Queues can be paused. */
  readonly pause: boolean;
}

/** Undefined until the server has said it. Pages are shown only then. */
export const capabilities = signal<Capabilities | undefined>(undefined);

/** True if the server shows messages without taking them, false for RabbitMQ. */
export const canLook = (): boolean => capabilities.value?.look ?? true;

/** True if queues can be paused. A server of an earlier version does not say it, and cannot. */
export const canPause = (): boolean => capabilities.value?.pause ?? false;

/** True if the server counts deaths by their reason. */
export const countsDeaths = (): boolean => capabilities.value?.deaths ?? true;

/** True if this user may edit messages. */
export const canEdit = (): boolean => capabilities.value?.edits ?? false;

/** True if the server sends its counters as events. */
export const hasEvents = (): boolean => capabilities.value?.events ?? true;

/** Asks the server what it can do. */
export async function loadCapabilities(abort: AbortSignal): Promise<Capabilities> {
  const loaded = await request<Capabilities>('dlx/capabilities', { signal: abort });
  capabilities.value = loaded;
  return loaded;
}
