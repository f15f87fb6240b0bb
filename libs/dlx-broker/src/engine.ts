/*
 * The front door for those who use the broker without Nest: the engine, what lends it time, names and patterns, and one
 * function that puts both together.
 */
import { policyPatterns, randomNames, SystemClock } from './backend/index.js';
import { Broker, type BrokerOptions } from './broker/index.js';

export * from './broker/index.js';
export { policyPatterns, randomNames, SystemClock, turnPace } from './backend/index.js';
export {
  DeadLetteredMessage,
  type DeathReason,
  type Decimal,
  deathsOf,
  emptyTable,
  type Field,
  type FieldTable,
  type FieldType,
  fromFieldTable,
  int32,
  longstr,
  Message,
  noProperties,
  type Properties,
  toFieldTable,
  type DeathEntry,
} from './message/index.js';

/**
 * A broker in this process, in real time unless told otherwise.
 * @param options what to lend it instead: a clock for tests, a journal, a pace, another version of RabbitMQ
 */
export function createBroker(options: Partial<BrokerOptions> = {}): Broker {
  return new Broker({ clock: new SystemClock(), names: randomNames, patterns: policyPatterns, ...options });
}
