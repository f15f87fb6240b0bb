import { type ExchangeKind, exchangeTypes } from '../../engine/broker/index.js';
import { matchesPattern } from './topic-pattern.js';

type Fits = (bindingKey: string, key: string) => boolean;

const fitting: Readonly<Record<ExchangeKind['keys'], Fits | undefined>> = {
  any: () => true,
  equal: (bindingKey, key) => bindingKey === key,
  pattern: matchesPattern,
  other: undefined,
};

/** A test whether a binding matches a routing key; undefined for exchange types that are unknown or do not use the key. */
export function bindingFit(type: string): Fits | undefined {
  const keys = exchangeTypes.get(type)?.keys;
  return keys === undefined ? undefined : fitting[keys];
}
