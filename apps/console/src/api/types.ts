/** A page of a list of the management API. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly page: number;
  readonly page_size: number;
  readonly page_count: number;
  /** Items on this page. */
  readonly item_count: number;
  /** Items that the filter leaves. */
  readonly filtered_count: number;
  readonly total_count: number;
}

/** One of RabbitMQ's letters for what a queue has, with its value for the tooltip. */
export interface Feature {
  readonly letter: string;
  readonly tip: string;
}

/** Why a queue delivers nothing to its consumers. Times are milliseconds since 1970. */
export interface QueuePause {
  readonly reason: string;
  /** Null: the application itself. */
  readonly by: string | null;
  readonly since: number;
  /** Null: it lasts until it is ended. */
  readonly until: number | null;
}

/** A row of `GET /api/dlx/queues`. Rates are per second, null if the server does not count them; `oldest` is milliseconds since 1970. */
export interface QueueRow {
  readonly vhost: string;
  readonly name: string;
  readonly type: string;
  readonly durable: boolean;
  readonly exclusive: boolean;
  readonly auto_delete: boolean;
  readonly state: string;
  /** Undefined on a server of an earlier version. */
  readonly paused?: QueuePause | null;
  readonly features: readonly Feature[];
  readonly policy: string | null;
  readonly operator_policy: string | null;
  readonly messages_ready: number | null;
  readonly messages_unacknowledged: number | null;
  readonly messages_dlx: number;
  readonly consumers: number | null;
  readonly publish_rate: number | null;
  readonly deliver_rate: number | null;
  readonly dead_in_rate: number | null;
  readonly dead_out_rate: number | null;
  readonly dead_letters_in: number | null;
  readonly oldest: number | null;
  readonly dead_letter_queue: boolean;
  /** False: only headers of the next message make it a dead-letter queue. Null for other queues. */
  readonly dead_letter_proven: boolean | null;
  /** Ready messages in the last five minutes, oldest first; null where nothing is known. Lists have it. */
  readonly lengths?: readonly (number | null)[];
}

export type SettingSource = 'argument' | 'policy' | 'operator policy' | 'default';

export interface SettingValue {
  readonly value: unknown;
  readonly source: SettingSource;
  /** The name of the policy, or null. */
  readonly name: string | null;
}

/** A setting of a queue that is in effect, and the values that it overrides. */
export interface Setting extends SettingValue {
  readonly key: string;
  /** False for a key that the broker accepts and does not act by. */
  readonly effect?: boolean;
  readonly overridden: readonly SettingValue[];
}

/** The reasons of deaths, in the order in which the console shows them. */
export const deathReasons = ['rejected', 'expired', 'maxlen', 'delivery_limit'] as const;
/** The reasons that filters know: those of deaths, and that of messages that a handler parked without a death. */
export const letterReasons = [...deathReasons, 'parked'] as const;
export type DeathReason = (typeof deathReasons)[number];

/** A field of a header table with its AMQP type. */
export interface TypedField {
  readonly type: string;
  readonly value: unknown;
  readonly length?: number;
}

/** An entry of x-death. `time` is milliseconds since 1970. */
export interface Death {
  readonly reason: string;
  readonly count: number;
  readonly queue: string;
  readonly exchange: string;
  readonly routing_keys: readonly string[];
  readonly time: number;
  readonly original_expiration?: string;
}

/** A message as `GET /api/dlx/queues/{vhost}/{name}/messages` shows it. */
export interface Letter {
  readonly id: string;
  readonly exchange: string;
  readonly routing_key: string;
  readonly origin: { readonly exchange: string; readonly routing_key: string; readonly proven: boolean } | null;
  readonly redelivered: boolean;
  readonly returns: number;
  readonly failures: number;
  readonly expires_at: number | null;
  readonly redrives: number;
  readonly error: { readonly class: string; readonly message: string; readonly kind: string } | null;
  /** Groups similar failures. An earlier server does not say it. */
  readonly fingerprint?: string | null;
  /** The errors of the attempts, the latest first; only of one message. An earlier server does not list them. */
  readonly errors?: readonly Attempt[];
  /** How many entries were left out between the latest and the first. */
  readonly errors_omitted?: number;
  /** The time of the latest death, or of the latest failure of a parked message. An earlier server does not say it. */
  readonly died_at?: number | null;
  readonly first_death: { readonly reason: string; readonly queue: string; readonly exchange: string } | null;
  readonly deaths: readonly Death[];
  readonly properties: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, TypedField>>;
  readonly payload: string | null;
  readonly payload_encoding: 'string' | 'base64';
  readonly payload_bytes: number;
  readonly payload_truncated: boolean;
  readonly payload_error?: { readonly kind: string; readonly reason: string };
}

/** A failed attempt of a message, or a redrive between two attempts. */
export interface Attempt {
  readonly attempt: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly name: string;
  readonly message: string;
  readonly handler?: string;
  readonly host?: string;
  /** Milliseconds. */
  readonly took?: number;
  /** The number of the redrive; undefined for a failed attempt. */
  readonly redrive?: number;
}

/** Messages of one dead-letter queue that died for the same reason with the same kind of error. */
export interface LetterGroup {
  readonly vhost: string;
  readonly queue: string;
  readonly reason: string;
  readonly first_queue: string;
  readonly error: string;
  readonly count: number;
  readonly oldest: number | null;
  readonly newest: number | null;
  readonly example_id: string;
  /** Only in groups by fingerprint, which have no reason and no first queue; empty for messages without one. */
  readonly fingerprint?: string;
}

export type RedriveState = 'running' | 'waiting' | 'paused' | 'done' | 'cancelled' | 'failed';

/** One group of a redrive of several. */
export interface RedriveGroup {
  readonly vhost: string;
  readonly queue: string;
  readonly filter: Readonly<Record<string, unknown>> | null;
  readonly ids: number | null;
  readonly limit: number | null;
  readonly ready_at_start: number;
  readonly scanned: number;
  readonly moved: number;
  readonly left: number;
  readonly gone: number;
}

/** A destination that refuses publishes when it is full. */
export interface RefusingQueue {
  readonly vhost: string;
  readonly name: string;
  readonly messages_ready: number;
  readonly max_length: number | null;
  readonly max_length_bytes: number | null;
}

/** The answer of a dry run. */
export interface RedrivePlan extends RedriveTask {
  /** Destinations that may be full before all messages have moved. */
  readonly may_refuse: readonly RefusingQueue[];
}

/** A redrive as `GET /api/dlx/redrives` shows it. */
export interface RedriveTask {
  readonly id: string;
  /** Null for a redrive of groups that do not share them. */
  readonly vhost: string | null;
  readonly queue: string | null;
  readonly filter: Readonly<Record<string, unknown>> | null;
  /** The number of chosen messages. */
  readonly ids: number | null;
  /** The groups of a redrive of several. */
  readonly groups?: readonly RedriveGroup[];
  readonly to: { readonly exchange: string; readonly routing_key: string } | null;
  readonly rate: number;
  readonly limit: number | null;
  readonly circuit: { readonly percent: number; readonly at_least: number } | null;
  readonly keep_history: boolean;
  readonly dry_run: boolean;
  readonly state: RedriveState;
  readonly reason: string | null;
  readonly by: string;
  readonly started_at: number;
  readonly ended_at: number | null;
  readonly watched_until: number | null;
  readonly ready_at_start: number;
  readonly scanned: number;
  readonly moved: number;
  readonly left: number;
  readonly unproven_origin: number;
  readonly gone: number;
  readonly returned: number;
  /** With a virtual host if the redrive has groups, and so has each row of `left_at`. */
  readonly destinations: readonly { readonly vhost?: string; readonly name: string; readonly count: number }[];
  readonly other_destinations: number;
  readonly left_at: readonly {
    readonly vhost?: string;
    readonly queue?: string;
    readonly why: string;
    readonly exchange: string | null;
    readonly routing_key: string | null;
    readonly count: number;
    readonly example_id: string;
  }[];
}
