import { anEnvelope } from './envelope.js';
import { type Check, isFlag, readLater } from '../module/check-options.js';
import { optionsOf, refused, text } from '../../platform/options/index.js';
import { checkedArguments } from '../../backends/topology/index.js';

const isTable: Check = (value, origin) =>
  checkedArguments(optionsOf(value, origin, "write { 'x-...': value }"), origin);

/** Checks the name of an exchange to which a queue is bound. */
const isSource: Check = (value, origin) => {
  text.read(value, origin);
  if (value === '') {
    throw refused(
      value,
      origin,
      'is the default exchange, to which nothing can be bound: it takes the names of queues',
    );
  }
};

/** The options of an exchange, wherever it is written. */
export const exchangeOptions: Readonly<Record<string, Check>> = {
  name: isSource,
  type: text.read,
  durable: isFlag,
  autoDelete: isFlag,
  internal: isFlag,
  alternateExchange: text.read,
  arguments: isTable,
  declare: isFlag,
};

/** The options of the decorators that are not rows of the table, and what checks them. */
export const freeOptions: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  Queue: {
    name: text.read,
    durable: isFlag,
    exclusive: isFlag,
    autoDelete: isFlag,
    declare: isFlag,
    envelope: anEnvelope.read,
    arguments: isTable,
  },
  Exchange: exchangeOptions,
  Bind: { exchange: isSource, routingKey: readLater, arguments: isTable },
  Consume: {
    queue: text.read,
    exchange: readLater,
    routingKey: readLater,
    envelope: anEnvelope.read,
    broker: text.read,
  },
  QueueArguments: { arguments: isTable },
  Retry: { policy: readLater },
};

/** Settings that are a parameter of the decorator, or that it sets itself. Errors do not list them among the options. */
export const parameters: Readonly<Record<string, readonly string[]>> = {
  Exchange: ['name'],
  MaxLength: ['value'],
  MaxLengthBytes: ['value'],
  Quorum: ['type'],
};

/** What to write where a decorator got undefined for a parameter that it needs, by decorator and setting. */
export const examples: Readonly<Record<string, string>> = {
  'Bind.exchange': "@Bind('shop', 'order.*')",
  'ConsumerPriority.value': '@ConsumerPriority(10)',
  'DeadLetter.exchange': "@DeadLetter('orders.dlx'), or @DeadLetter(false) if dead letters may be lost",
  'Exchange.name': "@Exchange('shop')",
  'Expires.value': "@Expires('1h')",
  'MaxLength.value': '@MaxLength(1000)',
  'MaxLengthBytes.value': '@MaxLengthBytes(1_000_000)',
  'MaxPriority.value': '@MaxPriority(10)',
  'Prefetch.value': '@Prefetch(10)',
  'QueueArguments.arguments': "@QueueArguments({ 'x-...': value })",
  'Retry.policy': '@Retry({ attempts: 5 }), or @Retry(false) for no retries',
  'Ttl.value': "@Ttl('30s')",
};

/** What to write where an object of options was expected. */
export const remedies: Readonly<Record<string, string>> = {
  Queue: "write 'orders' or { name: 'orders', durable: false }",
  Exchange: "write { type: 'direct' } behind its name",
  Consume:
    "write 'orders' or { queue: 'orders', routingKey: 'order.*' }, or nothing for a queue named after the method",
  DeadLetter: "write 'exchange', 'key' or { exchange: 'dlx', routingKey: 'key' }, or false if dead letters may be lost",
  MaxLength: "write { overflow: 'reject-publish' } behind the number",
  MaxLengthBytes: "write { overflow: 'reject-publish' } behind the number",
  Quorum: 'write { deliveryLimit: 5 }, or nothing',
};
