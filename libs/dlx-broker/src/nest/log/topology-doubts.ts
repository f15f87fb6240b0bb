import {
  joinedWildcards,
  misspeltExchanges,
  returningDeadLetters,
  type Topology,
} from '../../backends/topology/index.js';
import type { PlannedHandler } from '../core/handler.js';

/**
 * A line for each queue whose dead letters return to it at once. A handler with a retry policy rejects no failed message into its own
 * queue, so its queue has none.
 */
export function returnWarnings(planned: readonly PlannedHandler[], topology: Topology): readonly string[] {
  return returningDeadLetters(topology).flatMap(({ queue, exchange, routingKey }) => {
    const failing = planned.find((each) => each.queue === queue && each.retry === undefined);
    if (failing === undefined) return [];
    const from = exchange === '' ? 'the default exchange' : `exchange '${exchange}'`;
    const key = routingKey === undefined ? 'the routing key of their message' : `the routing key '${routingKey}'`;
    return [
      `dead letters of queue '${queue}' return to it at once and without an end: ${from} routes them back by ${key}, so a ` +
        `message on which ${failing.handler.origin} fails is handled again and again; write @Retry({ attempts: 3 }) instead ` +
        'of @DeadLetter, or lead the dead letters to another queue',
    ];
  });
}

/** A line for each binding of a topic exchange with a wildcard that is an ordinary character. */
export const wildcardWarnings = (topology: Topology): readonly string[] =>
  joinedWildcards(topology).map(({ word, binding: { routingKey, source, destination, destinationType, origin } }) => {
    const by = origin === undefined ? '' : ` (${origin})`;
    return (
      `routing key '${routingKey}', which binds ${destinationType} '${destination}' to topic exchange '${source}'${by}: '${word}' ` +
      "is no wildcard and fits only itself; * and # stand alone between dots, such as 'order.*'"
    );
  });

/** A line for each exchange that is probably misspelt. */
export const exchangeWarnings = (topology: Topology): readonly string[] =>
  misspeltExchanges(topology).map(
    ({ name, meant, origin }) =>
      `exchange '${name}' is named by ${origin} and nowhere else in this application; did you mean '${meant}'? If '${name}' is ` +
      `meant, name it in option 'topology' too: { exchanges: ['${name}'] }`,
  );
