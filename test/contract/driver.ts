import type { ProfileName } from '../../libs/dlx-broker/src/engine/broker/index.js';
import type { FieldTable, Properties } from '../../libs/dlx-broker/src/engine/message/index.js';
import type { ConfirmOutcome } from './channel-record.js';
import type { WireOptions } from './wire/connection.js';

/**
 * A broker under test. All drivers show the same surface, so that one case runs on all of them: the engine in the same
 * process, the engine behind its AMQP listener, a real RabbitMQ.
 */
export interface Driver {
  readonly name: string;
  /** The version of RabbitMQ that it is, or behaves like. */
  readonly profile: ProfileName;
  /** Whether `elapse` really waits. */
  readonly realTime: boolean;
  /** Whether its sessions can be talked to in frames. */
  readonly speaksAmqp: boolean;
  /** @returns why it cannot be used here, or undefined */
  unavailable(): Promise<string | undefined>;
  /** A fresh virtual host for one case. */
  open(): Promise<Session>;
}

/** One case's world: a virtual host of its own, called `V` in all texts it shows. */
export interface Session {
  /** A new connection; users are those of `addUser`, none means the all-powerful one. */
  connect(options?: { readonly user?: string; readonly vhost?: string }): Promise<TestConnection>;
  /** A new channel on the session's first connection. */
  channel(): Promise<TestChannel>;
  /** Where to connect for a talk in frames, if the driver has a wire. */
  readonly wire?: WireOptions;
  /** Takes all messages out of a queue on a connection of its own, acknowledged at once. */
  drain(queue: string): Promise<Received[]>;
  /** Lets time pass, in milliseconds, then settles. */
  elapse(milliseconds: number): Promise<void>;
  /** Waits until everything under way has arrived. */
  settle(): Promise<void>;
  /** Milliseconds since 1970, by the broker's clock. */
  now(): number;
  /** When the session began, same unit. */
  readonly begun: number;
  /** Replaces what differs from run to run in a text: the virtual host, users, generated names. */
  plain(text: string): string;

  /** @throws AdministrationFailure */
  setPolicy(name: string, policy: TestPolicy): Promise<void>;
  clearPolicy(name: string): Promise<void>;
  setOperatorPolicy(name: string, policy: TestPolicy): Promise<void>;
  clearOperatorPolicy(name: string): Promise<void>;
  /** A user of this session only, with these permissions in its virtual host; undefined for none. */
  addUser(name: string, permissions?: TestPermissions): Promise<void>;
  /** Limits of a user of this session, by RabbitMQ's names. @throws AdministrationFailure */
  limitUser(name: string, limits: Readonly<Record<string, number>>): Promise<void>;
  close(): Promise<void>;
}

export interface TestPolicy {
  readonly pattern: string;
  readonly definition: Readonly<Record<string, string | number>>;
  readonly applyTo?: 'queues' | 'exchanges' | 'all';
  readonly priority?: number;
}

export interface TestPermissions {
  readonly configure: string;
  readonly write: string;
  readonly read: string;
}

export interface TestConnection {
  channel(): Promise<TestChannel>;
  close(): Promise<void>;
}

/** A message as it reached a client. */
export interface Received {
  readonly deliveryTag: number;
  readonly redelivered: boolean;
  readonly exchange: string;
  readonly routingKey: string;
  readonly properties: Properties;
  readonly body: string;
  /** Of basic.get: how many ready messages are left. */
  readonly messageCount?: number;
}

/** A running consumer and what it got so far. */
export interface TestConsumer {
  readonly tag: string;
  readonly messages: readonly Received[];
  /** Whether the broker ended it (rule Q6). */
  readonly cancelled: boolean;
}

export interface ReturnedMessage extends Omit<Received, 'deliveryTag' | 'redelivered'> {
  readonly code: number;
  readonly text: string;
}

export interface ExchangeOptions {
  readonly passive?: boolean;
  readonly durable?: boolean;
  readonly autoDelete?: boolean;
  readonly internal?: boolean;
  readonly arguments?: FieldTable;
}

export interface QueueOptions {
  readonly passive?: boolean;
  readonly durable?: boolean;
  readonly exclusive?: boolean;
  readonly autoDelete?: boolean;
  readonly arguments?: FieldTable;
}

export interface PublishOptions {
  readonly properties?: Properties;
  /** A string, or raw bytes; empty by default. */
  readonly body?: string | Uint8Array;
  readonly mandatory?: boolean;
  readonly immediate?: boolean;
}

/** Every method fails with a `Failure` when the broker closes the channel or connection because of it. */
export interface TestChannel {
  declareExchange(name: string, type: string, options?: ExchangeOptions): Promise<void>;
  deleteExchange(name: string, options?: { readonly ifUnused?: boolean }): Promise<void>;
  bindExchange(destination: string, source: string, key?: string, args?: FieldTable): Promise<void>;
  unbindExchange(destination: string, source: string, key?: string, args?: FieldTable): Promise<void>;
  declareQueue(
    name: string,
    options?: QueueOptions,
  ): Promise<{ readonly queue: string; readonly messageCount: number; readonly consumerCount: number }>;
  bindQueue(queue: string, exchange: string, key?: string, args?: FieldTable): Promise<void>;
  unbindQueue(queue: string, exchange: string, key?: string, args?: FieldTable): Promise<void>;
  purgeQueue(queue: string): Promise<number>;
  deleteQueue(queue: string, options?: { readonly ifUnused?: boolean; readonly ifEmpty?: boolean }): Promise<number>;
  qos(prefetch: number, options?: { readonly global?: boolean; readonly prefetchSize?: number }): Promise<void>;
  consume(
    queue: string,
    options?: {
      readonly tag?: string;
      readonly noAck?: boolean;
      readonly exclusive?: boolean;
      readonly arguments?: FieldTable;
    },
  ): Promise<TestConsumer>;
  cancel(tag: string): Promise<void>;
  publish(exchange: string, key: string, options?: PublishOptions): Promise<void>;
  get(queue: string, options?: { readonly noAck?: boolean }): Promise<Received | undefined>;
  ack(deliveryTag: number, multiple?: boolean): Promise<void>;
  nack(deliveryTag: number, options: { readonly multiple?: boolean; readonly requeue: boolean }): Promise<void>;
  reject(deliveryTag: number, requeue: boolean): Promise<void>;
  recover(requeue: boolean): Promise<void>;
  confirmSelect(): Promise<void>;
  txSelect(): Promise<void>;
  txCommit(): Promise<void>;
  txRollback(): Promise<void>;
  close(): Promise<void>;

  /** What became of the publishes since `confirmSelect`, by sequence number. */
  confirms(): ConfirmOutcome;
  readonly returns: readonly ReturnedMessage[];
  /** Returns and confirms in the order they came: `return BODY`, `ack 1`, `nack 2`. */
  readonly log: readonly string[];
}
