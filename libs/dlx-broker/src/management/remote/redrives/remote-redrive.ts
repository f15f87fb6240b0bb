import type { Address } from '../../../message/index.js';
import type { BreakerSettings, RedriveState } from '../../../redrive/index.js';

/** A redrive that a user asks for. */
export interface RemoteOrder {
  readonly vhost: string;
  readonly queue: string;
  /** Undefined: the origin that each message names. */
  readonly to: Address | undefined;
  /** The most messages that are moved. */
  readonly limit: number;
  /** True if the user gave no limit. Then `limit` is the length of the queue. */
  readonly isWhole: boolean;
  /** Messages a second; Infinity for as many as possible. */
  readonly rate: number;
  readonly circuit: BreakerSettings | undefined;
  readonly user: string;
}

/** The redrive connects as its user, so the server checks the user's rights. */
export interface Password {
  readonly password: string;
}

/** What a redrive has done. */
export interface RemoteCounts {
  readonly state: RedriveState;
  /** Messages in the queue at the start. */
  readonly total: number;
  readonly moved: number;
  readonly left: number;
  readonly unproven: number;
  readonly cameBack: number;
  /** By exchange and routing key. */
  readonly destinations: Readonly<Record<string, number>>;
  readonly error: unknown;
}

/** A redrive by consumers of this process. */
export interface RemoteMover {
  readonly counts: RemoteCounts;
  /** Milliseconds since 1970 until when messages that come back are counted; undefined before the end, and without a circuit. */
  readonly watchedUntil: number | undefined;
  /** Resolves at the end. */
  readonly ended: Promise<void>;
  pause(): void;
  resume(): void;
  stop(): void;
  /** Ends it, its watch and its connection. */
  close(): Promise<void>;
}

/** Connects to the server as the user of the order, and begins to move messages. It never throws: see `counts`. */
export type StartRedrive = (order: RemoteOrder & Password) => RemoteMover;
