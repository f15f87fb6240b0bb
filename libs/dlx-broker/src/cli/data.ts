import { Broker, type Queue, type RetainedDeath } from '../engine/broker/index.js';
import {
  type Field,
  type FieldTable,
  fieldTypeNames,
  isLost,
  type Message,
  plainProperties,
  type Properties,
} from '../engine/message/index.js';
import { historyOf } from '../platform/history/index.js';
import { amount, policyPatterns, randomNames, shownJson, shownText } from '../platform/index.js';
import { damageLines, type Data, inspectData } from '../store/index.js';
import { exit } from './command-error.js';

/** Writes output; resolves when more can be written. */
export type Write = (text: string) => Promise<void>;

/**
 * Reads a whole data directory, checks every CRC and every body, and writes a summary. Nothing in it is changed.
 * @returns the exit code @throws StoreError when the directory cannot be read
 */
export async function checkData(directory: string, out: Write): Promise<number> {
  const { broker, data } = await restored(directory);
  try {
    const { segments, bytes, liveBytes } = data.journal.stats;
    await out(`${data.directory}: ${amount(segments, 'segment')}, ${bytes} bytes, ${liveBytes} of them needed\n`);
    const all = new Bodies();
    for (const contents of contentsOf(broker)) {
      const before = { lost: all.lost, unreadable: all.unreadable };
      for (const { entry } of contents.kept) all.read(entry.message);
      await out(`${shownText(countLine(contents, all.lost - before.lost, all.unreadable - before.unreadable))}\n`);
    }
    for (const line of damageIn(data)) await out(`${shownText(line)}\n`);
    if (all.reason !== undefined) {
      await out(`${all.line}\n`);
      return exit.refused;
    }
    const isWhole = all.lost === 0 && !isDamaged(data);
    await out(isWhole ? 'everything is as it was written\n' : 'some of it is not as it was written\n');
    return isWhole ? exit.ok : exit.damaged;
  } finally {
    await data.close();
  }
}

/**
 * Writes every message as a line of JSON, queue by queue in the order of delivery. Delayed messages follow, in the order of their
 * times. Nothing in the directory is changed.
 * @param warn gets a line for each damage @returns the exit code @throws StoreError when the directory cannot be read
 */
export async function exportData(directory: string, out: Write, warn: (line: string) => void): Promise<number> {
  const { broker, data } = await restored(directory);
  try {
    const all = await exportAll(broker, out);
    damageIn(data).forEach((line) => warn(shownText(line)));
    if (all.lost > 0) warn(`${amount(all.lost, 'message')} without the body`);
    if (all.reason !== undefined) {
      warn(all.line);
      return exit.refused;
    }
    return all.lost === 0 && !isDamaged(data) ? exit.ok : exit.damaged;
  } finally {
    await data.close();
  }
}

function countLine({ vhost, queue, exchange, kept }: Contents, lost: number, unreadable: number): string {
  const where = queue === undefined ? `exchange '${exchange}'` : `queue '${queue}'`;
  const delayed = kept.filter(({ due }) => due > 0).length;
  const died = kept.filter(({ death }) => death !== undefined).length;
  const dead = died > 0 ? `, ${died} of them dead, and not arrived` : '';
  const waiting = delayed > 0 ? `, ${delayed} of them held back` : '';
  const damaged = lost > 0 ? `, ${lost} of them without their body` : '';
  const later = unreadable > 0 ? `, the bodies of ${unreadable} cannot be read now` : '';
  return `${where} in vhost '${vhost}': ${amount(kept.length, 'message')}${waiting}${dead}${damaged}${later}`;
}

async function exportAll(broker: Broker, out: Write): Promise<Bodies> {
  const all = new Bodies();
  for (const contents of contentsOf(broker)) {
    for (const one of contents.kept) await out(`${shownJson(lineOf(contents, one, all.read(one.entry.message)))}\n`);
  }
  return all;
}

/** Reads bodies from the disk, and counts those that are lost and those that cannot be read now. */
class Bodies {
  lost = 0;
  unreadable = 0;
  /** Why the last unreadable one could not be read. */
  reason: string | undefined;

  read(message: Message): BodyFound {
    try {
      return message.body;
    } catch (error) {
      if (isLost(error)) {
        this.lost++;
        return 'lost';
      }
      this.unreadable++;
      this.reason = (error as Error).message;
      return 'unreadable';
    }
  }

  get line(): string {
    return `${this.unreadable} bodies cannot be read now, and nothing is known of them: ${this.reason}. Check the disk, and try again`;
  }
}

/** The damage without the names of copied files, because a reader copies no file. */
export const damageIn = ({ journal: { damage } }: Data): readonly string[] =>
  damageLines({ ...damage, places: damage.places.map((place) => ({ ...place, copy: undefined })) });

const isDamaged = ({ journal: { damage } }: Data): boolean =>
  damage.places.length + damage.queues.length + damage.misplaced > 0;

type Entry = Parameters<Parameters<Queue['peek']>[0]>[0];

/** A data directory, loaded into a broker that is stopped: it expires, delivers and writes nothing. */
export interface Restored {
  readonly broker: Broker;
  readonly data: Data;
}

/** Reads all segments, and compares them with their hints. @throws StoreError */
export async function restored(directory: string): Promise<Restored> {
  const data = await inspectData(directory, { hints: 'check' });
  const broker = new Broker({
    clock: { now: Date.now, wakeAt: () => undefined },
    names: randomNames,
    patterns: policyPatterns,
    journal: data.journal,
    pace: { budget: 0, later: () => undefined },
  });
  data.journal.restore(broker);
  return { broker, data };
}

/** A message. `due`: the time at which a delayed message is due, in milliseconds since 1970; 0 for other messages. */
export interface Kept {
  readonly entry: Entry;
  readonly due: number;
  /** The death of a message whose dead letter has not arrived yet. */
  readonly death?: RetainedDeath;
}

/** A queue or a delayed exchange, with its messages. */
export interface Contents {
  readonly vhost: string;
  readonly queue?: string;
  /** Of a delayed exchange. */
  readonly exchange?: string;
  readonly kept: readonly Kept[];
}

/** The messages of all queues and delayed exchanges, also those that died and are not dead-lettered yet. */
export function* contentsOf(broker: Broker): Generator<Contents> {
  const dying = new Map<object, Kept[]>();
  for (const vhost of broker.virtualHosts.values()) {
    vhost.dead.each((death) => {
      const { queue, entry } = death;
      const one = { entry, due: 0, death };
      if (!dying.get(queue)?.push(one)) dying.set(queue, [one]);
    });
    break; // all virtual hosts share one list
  }
  for (const { name: vhost, queues, exchanges } of broker.virtualHosts.values()) {
    for (const queue of queues.values()) {
      const kept: Kept[] = dying.get(queue) ?? [];
      const delayed: Kept[] = [];
      const ready = (entry: Entry): void => void kept.push({ entry, due: 0 });
      queue.peek(ready, (entry, due) => void delayed.push({ entry, due }));
      yield { vhost, queue: queue.name, kept: kept.concat(delayed.sort(byDue)) };
    }
    for (const { name, delayed } of exchanges.values()) {
      if (delayed === undefined) continue;
      const kept: Kept[] = [];
      delayed.each((entry) => void kept.push({ entry, due: entry.due }));
      yield { vhost, exchange: name, kept: kept.sort(byDue) };
    }
  }
}

const byDue = (one: Kept, other: Kept): number => one.due - other.due || one.entry.position - other.entry.position;

/** A body; or `lost` for ever; or `unreadable` at this time. */
export type BodyFound = Uint8Array | 'lost' | 'unreadable';

/**
 * One message of a queue, or of a delayed exchange, as JSON in one line. A header is an object with one key, the name of its
 * type on the wire, so that an int16 differs from an int64: `{ "retries": { "short": 3 } }`.
 */
export function lineOf({ vhost, queue, exchange }: Contents, kept: Kept, body: BodyFound): string {
  const { entry, due, death } = kept;
  const { message, redelivered, deadline, position } = entry;
  return JSON.stringify({
    vhost,
    ...(queue === undefined ? { delayed_by: exchange } : { queue }),
    ...(due > 0 && { due: isoOf(due) }),
    ...(death !== undefined && { died: diedOf(death) }),
    position,
    redelivered,
    ...(deadline !== 0 && { expires: isoOf(deadline) }),
    exchange: message.exchange,
    routing_key: message.routingKey,
    ...(message.origin !== undefined && { origin: originOf(message.origin) }),
    properties: propertiesOf(message.properties),
    deaths: deathsIn(message),
    ...bodyIn(body),
  });
}

/** Where it was published at first, as the broker recorded it. */
const originOf = ({ exchange, routingKey, queue }: NonNullable<Message['origin']>): object => ({
  exchange,
  routing_key: routingKey,
  ...(queue !== undefined && { failed_in: queue }),
});

const diedOf = ({ reason, time, headers }: NonNullable<Kept['death']>): object => ({
  reason,
  time: isoOf(time),
  ...(headers !== undefined && { headers: tableOf(headers) }),
});

const propertiesOf = (properties: Properties): object => ({
  ...plainProperties(properties),
  ...(properties.headers !== undefined && { headers: tableOf(properties.headers) }),
});

/** Newest first, with the field names of `x-death`. The headers have them, too, in `x-death` and `dlx-deaths`. */
const deathsIn = (message: Message): readonly object[] =>
  historyOf(message).map(({ queue, reason, count, time, exchange, routingKeys }) => ({
    queue,
    reason,
    count,
    time: isoOf(time),
    exchange,
    routing_keys: routingKeys,
  }));

/** Null for a time that is no date: a client can write any number. */
const isoOf = (time: number): string | null => (Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : null);

/** The body as text if it is UTF-8, else as base64. */
function bodyIn(body: BodyFound): object {
  if (body === 'lost') return { damaged: true };
  if (body === 'unreadable') return { unreadable: true };
  try {
    return { body: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body) };
  } catch {
    return { body_base64: Buffer.from(body).toString('base64') };
  }
}

const tableOf = (table: FieldTable): object =>
  Object.fromEntries([...table].map(([name, field]) => [name, plainOf(field)]));

function plainOf(field: Field): object {
  return { [fieldTypeNames[field.type]]: valueOf(field) };
}

function valueOf(field: Field): unknown {
  switch (field.type) {
    case 'A':
      return field.value.map(plainOf);
    case 'F':
      return tableOf(field.value);
    case 'x':
      return Buffer.from(field.value).toString('base64');
    case 'V':
      return null;
    case 'l':
    case 'T':
      return typeof field.value === 'bigint' ? String(field.value) : field.value;
    case 'f':
    case 'd':
      return Number.isFinite(field.value) ? field.value : String(field.value);
    default:
      return field.value;
  }
}
