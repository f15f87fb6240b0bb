import type { RoutingType } from '../../engine/broker/index.js';
import type { FieldTable } from '../../engine/message/index.js';

/** The exchange types that ship with the broker; others may be registered by plugins of a real RabbitMQ. */
export type ExchangeType = RoutingType | (string & {});

export interface ExchangeDeclaration {
  readonly name: string;
  readonly type: ExchangeType;
  readonly durable: boolean;
  readonly autoDelete: boolean;
  readonly internal: boolean;
  readonly arguments: FieldTable;
  /** The place of the declaration, for error messages: `@Exchange on OrdersController.created`. */
  readonly origin?: string;
}

export interface QueueDeclaration {
  readonly name: string;
  readonly durable: boolean;
  readonly exclusive: boolean;
  readonly autoDelete: boolean;
  readonly arguments: FieldTable;
  /** The names of arguments that may have other values in an existing queue. The existing queue is not changed. */
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

/** The declarations of decorators, options and retry policies, which a backend declares: plain data, in order. */
export interface Topology {
  readonly exchanges: readonly ExchangeDeclaration[];
  readonly queues: readonly QueueDeclaration[];
  readonly bindings: readonly BindingDeclaration[];
}
