import type { Broker, Queue } from '../../../../libs/dlx-broker/src/engine/broker/index.js';
import {
  type DeathEntry,
  type FirstDeath,
  fromFieldTable,
  type Message,
  plainProperties,
  readDeaths,
  readFirstDeath,
} from '../../../../libs/dlx-broker/src/engine/message/index.js';
import type { Place } from './event.js';
import type { Recorder } from './recorder.js';
import {
  type BindingDefinition,
  type ExchangeDefinition,
  type PolicyDefinition,
  type QueueDefinition,
  topologyOf,
} from './topology.js';

/** A message as a consumer would see it. */
export interface MessageState extends Place {
  readonly body: string;
  /** To which it was published last: for a dead letter the dead-letter exchange. */
  readonly exchange: string;
  readonly routingKey: string;
  /** `expiration`, `priority`, `delivery_mode` ... */
  readonly properties: Readonly<Record<string, string | number>>;
  /** All headers, those of deaths included. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** The entries of `x-death`, newest first. */
  readonly deaths: readonly DeathEntry[];
  readonly firstDeath?: FirstDeath;
  readonly redelivered: boolean;
  /** Milliseconds until it expires, 0 when it has but is not at the head; undefined for never. */
  readonly expiresIn?: number;
}

export interface QueueState extends QueueDefinition {
  readonly type: 'classic' | 'quorum';
  /** Ready messages. */
  readonly length: number;
  readonly unacked: number;
  /** At-least-once dead letters that have not arrived everywhere. */
  readonly retained: number;
  /** The ready messages, the head first; of a long queue the first ones. */
  readonly messages: readonly MessageState[];
  /** The policy that applies. */
  readonly policy?: string;
  /** The dead-letter exchange in force, by argument or policy. */
  readonly deadLetterExchange?: string;
  readonly deadLetterRoutingKey?: string;
  readonly messageTtl?: number;
  readonly maxLength?: number;
  readonly deliveryLimit?: number;
}

export interface ConsumerState {
  readonly name: string;
  /** Absent for `get`, which takes from any queue. */
  readonly queue?: string;
  readonly prefetch: number;
  /** Unacknowledged, the oldest first. */
  readonly held: readonly MessageState[];
}

export interface State {
  /** Milliseconds since the beginning. */
  readonly now: number;
  readonly exchanges: readonly ExchangeDefinition[];
  readonly bindings: readonly BindingDefinition[];
  readonly policies: readonly PolicyDefinition[];
  readonly queues: readonly QueueState[];
  readonly consumers: readonly ConsumerState[];
}

/** Messages of one queue that a state shows at most. */
export const shownMessages = 100;

const given = <T extends object>(values: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;

/** @param deadline when it expires, in milliseconds since 1970; 0 for never */
export function messageState(
  message: Message,
  place: Place,
  redelivered: boolean,
  deadline: number,
  now: number,
): MessageState {
  const { properties, body, exchange, routingKey } = message;
  const { headers } = properties;
  return {
    ...place,
    body: new TextDecoder().decode(body),
    exchange,
    routingKey,
    properties: plainProperties(properties),
    headers: { ...fromFieldTable(headers) },
    deaths: readDeaths(headers),
    redelivered,
    ...given({
      firstDeath: readFirstDeath(headers),
      expiresIn: deadline === 0 ? undefined : Math.max(0, deadline - now),
    }),
  };
}

/** Exchanges, bindings, policies and queues of a broker now. */
export function stateOf(broker: Broker, recorder: Recorder): Omit<State, 'now' | 'consumers'> {
  const { queues: declared, ...others } = topologyOf(broker);
  const { queues } = broker.virtualHost('/');
  const now = broker.clock.now();
  return { ...others, queues: declared.map((each) => queueState(each, queues.get(each.name) as Queue, recorder, now)) };
}

function queueState(declared: QueueDefinition, queue: Queue, recorder: Recorder, now: number): QueueState {
  const messages: MessageState[] = [];
  const kept = recorder.kept.get(queue.name);
  queue.peek((entry) => {
    const place = kept?.get(entry.message)?.place ?? { id: 0, copy: 0, queue: queue.name };
    messages.push(messageState(entry.message, place, entry.redelivered, entry.deadline, now));
    return messages.length < shownMessages;
  });
  const { settings, policy } = queue.inForce;
  return {
    ...declared,
    type: queue.declared.type,
    length: queue.length,
    unacked: queue.unacked,
    retained: queue.retained,
    messages,
    ...given({
      policy: policy?.name,
      deadLetterExchange: settings.deadLetterExchange,
      deadLetterRoutingKey: settings.deadLetterRoutingKey,
      messageTtl: settings.messageTtl,
      maxLength: settings.maxLength,
      deliveryLimit: settings.deliveryLimit,
    }),
  };
}
