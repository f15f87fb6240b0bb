import { emptyTable } from '../../message/index.js';
import type { ExchangeDeclared } from '../declarations.js';

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
