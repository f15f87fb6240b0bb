import { nearestWord } from '../../platform/options/index.js';
import { isOnlyMentioned } from './collect.js';
import type { Topology } from './topology.js';
import { textOf } from './unreceived-dead-letters.js';

/** An exchange that one handler binds and nothing else names, and the exchange that it resembles. */
export interface MisspeltExchange {
  readonly name: string;
  readonly meant: string;
  /** The handler. */
  readonly origin: string;
}

/**
 * Finds exchanges that one handler binds and nothing else names or declares, and whose name is that of another exchange but for a
 * letter. Names that differ in digits only are different ones: `shop.v1` and `shop.v2`.
 */
export function misspeltExchanges({ exchanges, queues, bindings }: Topology): readonly MisspeltExchange[] {
  const named = new Set<string | undefined>([
    ...queues.map(({ arguments: args }) => textOf(args.get('x-dead-letter-exchange'))),
    ...exchanges.map(({ arguments: args }) => textOf(args.get('alternate-exchange'))),
    ...bindings.flatMap(({ destination, destinationType }) => (destinationType === 'exchange' ? [destination] : [])),
  ]);
  const lone = exchanges.flatMap((exchange) => {
    const { name } = exchange;
    if (named.has(name) || !isOnlyMentioned(exchange)) return [];
    const [origin, ...others] = new Set(bindings.flatMap((each) => (each.source === name ? [each.origin] : [])));
    return origin === undefined || others.length > 0 ? [] : [{ name, origin }];
  });
  const known = exchanges.map(({ name }) => name).filter((name) => !lone.some((each) => each.name === name));
  return lone.flatMap(({ name, origin }) => {
    const others = known.filter((other) => withoutDigits(other) !== withoutDigits(name));
    const meant = nearestWord(name, others, 1);
    return meant === undefined ? [] : [{ name, meant, origin }];
  });
}

const withoutDigits = (name: string): string => name.replaceAll(/\d/g, '');
