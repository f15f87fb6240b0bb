import type { FieldTable } from '../../message/index.js';
import { DirectRouter } from './direct.js';
import { FanoutRouter } from './fanout.js';
import { delayedType, routingTypeOf } from './delay.js';
import { checkHeadersBinding, HeadersRouter } from './headers.js';
import type { Router } from './router.js';
import { TopicRouter } from './topic.js';

/** What there is to know of an exchange type. */
export interface ExchangeKind {
  createRouter<Destination>(): Router<Destination>;
  /** Throws when a binding's arguments make no sense to this type. */
  readonly checkBinding?: (args: FieldTable) => void;
}

/** Every way to route; a new one is a file and a line here. A Map, since names of types come from the wire. */
export const exchangeTypes: ReadonlyMap<string, ExchangeKind> = new Map<string, ExchangeKind>([
  ['direct', { createRouter: <Destination>() => new DirectRouter<Destination>() }],
  ['fanout', { createRouter: <Destination>() => new FanoutRouter<Destination>() }],
  ['topic', { createRouter: <Destination>() => new TopicRouter<Destination>() }],
  ['headers', { createRouter: <Destination>() => new HeadersRouter<Destination>(), checkBinding: checkHeadersBinding }],
]);

/** Whether an exchange can be declared with this type. */
export const isExchangeType = (type: string): boolean => exchangeTypes.has(type) || type === delayedType;

/** How an exchange routes that was declared so. */
export function kindOf(declared: { readonly type: string; readonly arguments: FieldTable }): ExchangeKind {
  return exchangeTypes.get(routingTypeOf(declared)) as ExchangeKind;
}
