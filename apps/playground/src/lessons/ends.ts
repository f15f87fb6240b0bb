import type { WorldEvent } from '../world/event.js';
import type { MessageState, State } from '../world/state.js';
import type { Ends } from './lesson.js';

/** A message, as far as its line shows it. */
export type Seen = Pick<
  MessageState,
  'body' | 'exchange' | 'routingKey' | 'properties' | 'headers' | 'deaths' | 'redelivered'
>;

/** `body [key] queue/reason count, ...` with the newest death first, and what else a lesson shows. */
export function lineOf(message: Seen, shows: readonly string[] = []): string {
  const deaths = message.deaths.map(({ queue, reason, count }) => `${queue}/${reason} ${count}`).join(', ');
  const others = shows.map((name) => ` ${name}=${shown(message, name)}`).join('');
  return `${message.body} [${message.routingKey}]${deaths === '' ? '' : ` ${deaths}`}${others}`;
}

/** A header, a property, `exchange`, `redelivered`, or `x-death`: exchange, keys and expiration of its newest entry. */
function shown({ headers, properties, deaths, exchange, redelivered }: Seen, name: string): string {
  if (name === 'exchange') return exchange;
  if (name === 'redelivered') return String(redelivered);
  if (name === 'x-death')
    return deaths
      .slice(0, 1)
      .map(({ exchange: from, routingKeys, originalExpiration }) =>
        [from, routingKeys.join('+'), originalExpiration].filter((part) => part !== undefined).join('/'),
      )
      .join();
  return String(headers[name] ?? properties[name] ?? 'none');
}

/** The end of a lesson in the world: what queues and consumers have, and which commands were refused. */
export function endsOf(state: State, events: readonly WorldEvent[], shows?: readonly string[]): Ends {
  const lines = (messages: readonly Seen[]): string[] => messages.map((message) => lineOf(message, shows));
  const refusals = events.flatMap((event) => (event.kind === 'refused' ? [refusalOf(event.command.do, event)] : []));
  return nonEmpty([
    ...state.queues.map(({ name, messages }) => [name, lines(messages)] as const),
    ...state.consumers.map(({ name, held }) => [`${name} holds`, lines(held)] as const),
    ['refused', refusals],
  ]);
}

export const refusalOf = (command: string, { code }: { readonly code: number }): string => `${command} ${code}`;

/** Without the entries that have no lines. */
export const nonEmpty = (entries: readonly (readonly [string, readonly string[]])[]): Ends =>
  Object.fromEntries(entries.filter(([, lines]) => lines.length > 0));
