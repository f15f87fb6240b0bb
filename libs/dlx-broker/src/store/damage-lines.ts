import { exchangeOfDelayed } from '../engine/broker/index.js';
import { hintNumber } from './log/hint-file.js';
import type { Damage } from './log/options.js';

/** The damage of a directory, as lines of text. */
export function damageLines({ places, queues, misplaced }: Damage): string[] {
  const lines = places.map(({ file, from, to, copy, isMissing, isEmpty }) => {
    if (isMissing === true)
      return `${file} is missing, and with it messages that are not counted below; restore the directory from a backup of a stopped broker or from a snapshot`;
    if (isEmpty === true)
      return `${file} has the name of a segment and is empty: it lost its content, or it is no file of the log; it is not used, and serve removes it`;
    if (hintNumber(file) !== undefined)
      return `${file} is not what was written; its segment was read instead, and nothing is lost by that`;
    const kept = copy === undefined ? '' : `; a copy is kept as ${copy}`;
    return `${file}: bytes ${from} to ${to} are not what was written${kept}`;
  });
  for (const { vhost, queue, lost } of queues) {
    const where = queue === undefined ? 'queues that are not known any more' : `${nameOf(queue)} in vhost '${vhost}'`;
    lines.push(`${where}: ${lost} messages are lost`);
  }
  if (misplaced > 0) lines.push(`${misplaced} messages are whole, but the queues they were in are not known any more`);
  return lines;
}

function nameOf(queue: string): string {
  const exchange = exchangeOfDelayed(queue);
  return exchange === undefined ? `queue '${queue}'` : `what exchange '${exchange}' delays`;
}
