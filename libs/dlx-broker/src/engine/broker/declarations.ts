import type { FieldTable } from '../message/index.js';

/** A client at the other end of a connection, as its listener knows it. Management shows it. */
export interface ClientDetails {
  /** `127.0.0.1:43210 -> 127.0.0.1:5672`. */
  readonly name: string;
  /** The broker's end. */
  readonly host: string;
  readonly port: number;
  /** The client's end. */
  readonly peerHost: string;
  readonly peerPort: number;
  readonly protocol: string;
  /** `PLAIN` ... */
  readonly authMechanism: string;
  readonly isTls: boolean;
  /** Undefined without TLS. */
  readonly tls?: TlsDetails | undefined;
  readonly channelMax: number;
  readonly frameMax: number;
  /** Seconds between heartbeats, 0 without. */
  readonly timeout: number;
  /** Milliseconds since 1970. */
  readonly connectedAt: number;
  /** The client properties of `connection.start-ok`. */
  readonly properties: FieldTable;
  /** Its `connection_name`. */
  readonly userProvidedName?: string | undefined;
  /** The bytes and frames received and sent so far. */
  traffic(): Traffic;
  state(): ClientState;
}

/** The TLS parameters of a connection, in RabbitMQ's words. */
export interface TlsDetails {
  /** `tlsv1.3` */
  readonly protocol: string;
  /** `ecdhe_rsa`; `any` since TLS 1.3 */
  readonly keyExchange: string;
  /** `aes_256_gcm` */
  readonly cipher: string;
  /** `aead`, or the hash of the message authentication */
  readonly hash: string;
  /** If the client had to present one. */
  readonly peerCertificate?: { readonly subject: string; readonly issuer: string; readonly validity: string };
}

export type ClientState = 'starting' | 'tuning' | 'opening' | 'running' | 'flow' | 'blocking' | 'blocked' | 'closing';

export interface Traffic {
  /** Bytes received. */
  readonly recvOct: number;
  /** Frames or packets received. */
  readonly recvCnt: number;
  readonly sendOct: number;
  readonly sendCnt: number;
  /** Bytes that wait to be sent. */
  readonly sendPend: number;
}

// What is declared in a broker, as plain data.

/** An exchange, as it was declared. */
export interface ExchangeDeclared {
  readonly name: string;
  readonly type: string;
  readonly durable: boolean;
  readonly autoDelete: boolean;
  readonly internal: boolean;
  readonly arguments: FieldTable;
}

/** The type of a queue. A new type is a name here, and a column in the table of arguments. */
export type QueueType = 'classic' | 'quorum';

/** A queue, as it was declared. */
export interface QueueDeclared {
  readonly name: string;
  readonly type: QueueType;
  readonly durable: boolean;
  readonly autoDelete: boolean;
  /** The connection an exclusive queue belongs to (rule O4). */
  readonly owner: QueueOwner | undefined;
  readonly arguments: FieldTable;
}

/** The pause of a queue, which delivers nothing to its consumers (rule X1). All times are milliseconds since 1970. */
export interface Pause {
  /** What the operator gave as the reason; empty for none. */
  readonly reason: string;
  /** The user who paused it; undefined is the host application. */
  readonly by: string | undefined;
  /** When it was paused. A second pause changes the other fields only. */
  readonly since: number;
  /** When the pause ends by itself; undefined while it lasts until it is ended. */
  readonly until: number | undefined;
}

/** The connection to which an exclusive queue belongs. */
export interface QueueOwner {
  /** Unique among all connections of the broker, closed ones included. */
  readonly number: number;
  /** The client at the other end; undefined is the host application itself. */
  readonly client: ClientDetails | undefined;
  /** The names of the queues that are deleted with it. */
  readonly exclusiveQueues: Set<string>;
}

export interface BindingDetails {
  readonly to: 'queue' | 'exchange';
  readonly destination: string;
  readonly bindingKey: string;
  readonly arguments: FieldTable;
}

/** What a policy applies to. The last three values exist since RabbitMQ 4 (rule W13); `streams` matches nothing here. */
type ApplyTo = 'queues' | 'exchanges' | 'all' | 'classic_queues' | 'quorum_queues' | 'streams';

/** Settings for all queues and exchanges whose names match a pattern. */
export interface Policy {
  readonly name: string;
  readonly pattern: string;
  readonly applyTo: ApplyTo;
  readonly priority: number;
  readonly definition: ReadonlyMap<string, unknown>;
}

/** A user of a broker: tags, and the hash of the password. */
export interface User {
  readonly name: string;
  /** `administrator`, `management`, `impersonator` ... */
  readonly tags: readonly string[];
  /** Opaque here: the authenticator makes and compares it. Undefined: no password is accepted for this user. */
  readonly passwordHash: string | undefined;
  /** Undefined: none (rule N7). */
  readonly limits?: UserLimits | undefined;
}

export const userLimitNames = ['max-channels', 'max-connections'] as const;

export type UserLimitName = (typeof userLimitNames)[number];

/** @returns the limit, if `count` has reached it; a negative limit is none */
export const reached = (limit: number | undefined, count: number): number | undefined =>
  limit !== undefined && limit >= 0 && count >= limit ? limit : undefined;

/** How many connections and channels a user may have in all virtual hosts together; a negative number is no limit. */
export type UserLimits = Readonly<Partial<Record<UserLimitName, number>>>;

/** What a user may do in one virtual host: a pattern of names for each right (rule N1). */
export interface Permissions {
  readonly configure: string;
  readonly write: string;
  readonly read: string;
}

/** Which routing keys a user may publish with, or bind by, on one topic exchange. */
export interface TopicPermissions {
  /** Empty for the default exchange, where it has no effect. */
  readonly exchange: string;
  /**
   * Patterns of routing keys; `{username}` and `{vhost}` in them stand for the names. `{client_id}` does not: clients of
   * AMQP 0-9-1 have none, and RabbitMQ leaves it as it is.
   */
  readonly write: string;
  readonly read: string;
}

/** Description and tags of a virtual host; they have no effect in the broker. */
export interface VirtualHostMetadata {
  readonly description: string;
  readonly tags: readonly string[];
  /** The type of queues that are declared without one, since RabbitMQ 4 (rule D1). Default: classic. */
  readonly defaultQueueType?: QueueType;
}

export const noMetadata: VirtualHostMetadata = { description: '', tags: [] };

export const limitNames = ['max-connections', 'max-queues'] as const;

/** A limit of a virtual host. */
export type LimitName = (typeof limitNames)[number];

/**
 * A change of the topology, as plain data. Removing a thing removes what depends on it, without a change of its own: a queue removes its
 * messages, bindings and pause, an exchange its bindings, a virtual host everything in it, a user all permissions. Adding a thing under
 * a name that exists replaces the thing.
 */
export type TopologyChange =
  | {
      readonly kind: 'vhost';
      readonly change: 'added';
      readonly vhost: string;
      readonly details: VirtualHostMetadata;
    }
  | { readonly kind: 'vhost'; readonly change: 'removed'; readonly vhost: string }
  | Changed<'exchange', ExchangeDeclared>
  | Changed<'queue', QueueDeclared>
  | Changed<'queue-pause', Pause>
  | Changed<'policy' | 'operator-policy', Policy>
  | (Named & { readonly kind: 'binding'; readonly change: 'added'; readonly details: BindingDetails })
  | (Named & { readonly kind: 'binding'; readonly change: 'removed'; readonly details: BindingDetails })
  | { readonly kind: 'user'; readonly change: 'added'; readonly name: string; readonly details: User }
  | { readonly kind: 'user'; readonly change: 'removed'; readonly name: string }
  | (Named & { readonly kind: 'permission'; readonly change: 'added'; readonly details: Permissions })
  | (Named & { readonly kind: 'permission'; readonly change: 'removed' })
  | (Named & { readonly kind: 'topic-permission'; readonly change: 'added'; readonly details: TopicPermissions })
  | (Named & { readonly kind: 'topic-permission'; readonly change: 'removed'; readonly exchange: string })
  | {
      readonly kind: 'vhost-limit';
      readonly change: 'added';
      readonly vhost: string;
      readonly name: LimitName;
      readonly value: number;
    }
  | { readonly kind: 'vhost-limit'; readonly change: 'removed'; readonly vhost: string; readonly name: LimitName }
  | { readonly kind: 'global-parameter'; readonly change: 'added'; readonly name: string; readonly value: unknown }
  | { readonly kind: 'global-parameter'; readonly change: 'removed'; readonly name: string };

/** Of permissions, `name` is the user; of a binding, the source exchange; of a pause, the queue. */
interface Named {
  readonly vhost: string;
  readonly name: string;
}

type Changed<Kind, Details> =
  | (Named & { readonly kind: Kind; readonly change: 'added'; readonly details: Details })
  | (Named & { readonly kind: Kind; readonly change: 'removed' });
