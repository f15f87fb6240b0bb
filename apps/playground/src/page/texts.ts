import { duration } from '../../../console/src/ui/format';
import { visible } from '../../../console/src/ui/parts';
import type { WorldEvent } from '../world/event';
import { wordsOf } from '../world/words';
import type { Command } from '../world/command';

/** The kinds of lines that do a command, in the order in which one is chosen if the wanted kind has none. */
export const dialects = ['amqplib', 'rabbitmqctl', 'library'] as const;
export type Dialect = (typeof dialects)[number];

/** The line that does a command, and its kind. */
export function lineOf(command: Command, wanted: Dialect): { readonly dialect: Dialect; readonly line: string } {
  const words = wordsOf(command);
  const dialect = [wanted, ...dialects].find((each) => words[each] !== undefined);
  if (dialect !== undefined) return { dialect, line: words[dialect] ?? '' };
  return { dialect: wanted, line: command.do === 'wait' ? `// ${duration(command.ms)} pass` : '' };
}

const drops = {
  'no-dlx': 'its queue has no dead-letter exchange',
  'missing-dlx': 'the dead-letter exchange does not exist',
  unroutable: 'no binding matches its key',
  cycle: 'it has been here before, and no consumer rejected it: a cycle',
  refused: 'the queue refuses it',
} as const;

/** A name as `Prose` shows it. */
const code = (name: string): string => `\`${visible(name).replaceAll('`', '\\u{60}')}\``;

const exchangeText = (name: string): string => (name === '' ? 'the default exchange' : code(name));

/** An event as a sentence. Names are in backticks. @param name the name of a message, by its number */
export function sentenceOf(event: WorldEvent, name: (id: number) => string): string {
  const who = 'id' in event ? code(name(event.id)) : '';
  switch (event.kind) {
    case 'published':
      return `${who} is published to ${exchangeText(event.exchange)}${event.key === '' ? '' : ` with the key ${code(event.key)}`}`;
    case 'enqueued':
      return event.from === undefined
        ? `${who} enters ${code(event.queue)}`
        : `${who} goes through ${exchangeText(event.exchange)} to ${code(event.queue)}, with the key ${code(event.key || '""')}`;
    case 'delivered':
      return `${who} is delivered to ${code(event.consumer)}${event.redelivered ? ', again' : ''}`;
    case 'acked':
      return `${who} is acknowledged`;
    case 'returned':
      return `${who} returns to ${code(event.queue)}`;
    case 'died':
      return `${who} dies in ${code(event.queue)}: ${code(event.reason)}`;
    case 'kept':
      return `${who} stays in ${code(event.queue)} until every target has it`;
    case 'dropped':
      return `${who} is dropped: ${drops[event.why]}`;
    case 'purged':
      return `${code(event.queue)} is purged of ${event.count}`;
    case 'queue-deleted':
      return `${code(event.queue)} is gone, with ${event.lost} messages`;
    case 'cancelled':
      return `${code(event.consumer)} is gone`;
    case 'restarted':
      return `the broker restarts; ${event.lost} messages are lost`;
    case 'refused':
      return `refused: ${event.code} ${visible(event.text)}`;
    case 'stopped':
      return `it stops here: ${event.text}`;
  }
}

/** A span of milliseconds with one unit: `4.2 s`. */
export function briefly(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${Number((ms / 1_000).toFixed(1))} s`;
  return duration(ms).split(' ').slice(0, 2).join(' ');
}
