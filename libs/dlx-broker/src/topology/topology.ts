import type { RoutingType } from '../broker/index.js';
import type { FieldTable } from '../message/index.js';

/** The exchange types that ship with the broker; others may be registered by plugins of a real RabbitMQ. */
export type ExchangeType = RoutingType | (string & {});

export interface ExchangeDeclaration {
  readonly name: string;
  readonly type: ExchangeType;
  readonly durable: boolean;
  readonly autoDelete: boolean;
  readonly internal: boolean;
  readonly arguments: FieldTable;
  /** Who asked for it, for error messages: `@Exchange on OrdersController.created`. */
  readonly origin?: string;
}

export interface QueueDeclaration {
  readonly name: string;
  readonly durable: boolean;
  readonly exclusive: boolean;
  readonly autoDelete: boolean;
  readonly arguments: FieldTable;
  /** Of its arguments those that may be otherwise where the queue exists already: then it stays as it is. */
  readonly mayDiffer?: readonly string[];
  readonly origin?: string;
}

export interface BindingDeclaration {
  readonly source: string;
  readonly destination: string;
  readonly destinationType: 'queue' | 'exchange';
  readonly routingKey: string;
  readonly arguments: FieldTable;
  readonly origin?: string;
}

/** What decorators and retry policies produce, and what either backend declares: plain data, in order of declaration. */
export interface Topology {
  readonly exchanges: readonly ExchangeDeclaration[];
  readonly queues: readonly QueueDeclaration[];
  readonly bindings: readonly BindingDeclaration[];
}
