import { emptyTable, type FieldTable } from '../../message/index.js';
import type { ExchangeDeclared } from '../declarations.js';
import type { Profile } from '../profile.js';
import { delayedType, routingTypeOf } from './delayed-messages.js';
import { DirectRouter, FanoutRouter } from './direct.js';
import { checkHeadersBinding, HeadersRouter } from './headers.js';
import type { Router } from './router.js';
import { TopicRouter } from './topic.js';

/** An exchange type. */
export interface ExchangeKind {
  /** RabbitMQ's, for the management API. */
  readonly description: string;
  /**
   * The routing keys that a binding lets through: `equal` to its binding key, those that fit it as a `pattern`, or `any`.
   * `other`: something else in the message decides.
   */
  readonly keys: 'equal' | 'pattern' | 'any' | 'other';
  createRouter<Destination>(profile: Pick<Profile, 'matchesTerms'>): Router<Destination>;
  /** @throws AmqpError when the arguments of a binding are invalid for this type */
  readonly checkBinding?: (args: FieldTable) => void;
}

const ofAmqp = (name: string): string => `AMQP ${name} exchange, as per the AMQP specification`;

/** Keeps the names for the compiler, and leaves the rest of the rows to their interface. */
const tableOf = <Name extends string>(rows: Readonly<Record<Name, ExchangeKind>>): typeof rows => rows;

/** The types that route. A new one is a file and a row here; the management API, hints and editors take it from the row. */
const kinds = tableOf({
  direct: {
    description: ofAmqp('direct'),
    keys: 'equal',
    createRouter: <Destination>() => new DirectRouter<Destination>(),
  },
  fanout: {
    description: ofAmqp('fanout'),
    keys: 'any',
    createRouter: <Destination>() => new FanoutRouter<Destination>(),
  },
  topic: {
    description: ofAmqp('topic'),
    keys: 'pattern',
    createRouter: <Destination>() => new TopicRouter<Destination>(),
  },
  headers: {
    description: ofAmqp('headers'),
    keys: 'other',
    createRouter: <Destination>({ matchesTerms }: Pick<Profile, 'matchesTerms'>) =>
      new HeadersRouter<Destination>(matchesTerms),
    checkBinding: checkHeadersBinding,
  },
});

/** The name of a type that routes. */
export type RoutingType = keyof typeof kinds;

/** A Map, since names of types come from the wire. */
export const exchangeTypes: ReadonlyMap<string, ExchangeKind> = new Map<string, ExchangeKind>(Object.entries(kinds));

/** Each type that an exchange can be declared with, and its description. */
export const exchangeTypeDescriptions: ReadonlyMap<string, string> = new Map([
  ...[...exchangeTypes].map(([name, { description }]): [string, string] => [name, description]),
  [delayedType, 'Delayed Message Exchange.'],
]);

/** Whether an exchange can be declared with this type. */
export const isExchangeType = (type: string): boolean => exchangeTypeDescriptions.has(type);

/** The type by which a declared exchange routes. */
export function kindOf(declared: { readonly type: string; readonly arguments: FieldTable }): ExchangeKind {
  return exchangeTypes.get(routingTypeOf(declared)) as ExchangeKind;
}

const predeclared = (name: string, type: string, internal = false): ExchangeDeclared => ({
  name,
  type,
  durable: true,
  autoDelete: false,
  internal,
  arguments: emptyTable,
});

/** What every virtual host has from the start (rule P1). */
export const predeclaredExchanges: readonly ExchangeDeclared[] = [
  predeclared('', 'direct'),
  predeclared('amq.direct', 'direct'),
  predeclared('amq.fanout', 'fanout'),
  predeclared('amq.topic', 'topic'),
  predeclared('amq.headers', 'headers'),
  predeclared('amq.match', 'headers'),
  predeclared('amq.rabbitmq.trace', 'topic', true),
];
