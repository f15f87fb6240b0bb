import {
  bool,
  emptyTable,
  int32,
  int64,
  longstr,
  type Field,
  type FieldTable,
} from '../../libs/dlx-broker/src/engine/message/index.js';
import type { ProfileName } from '../../libs/dlx-broker/src/engine/broker/index.js';
import type { PublishOptions, Received, Session, TestChannel } from './driver.js';
import { AdministrationFailure, Failure } from './failure.js';
import type { WireOptions } from './wire/connection.js';
import { normalHeaders, type NormalField } from './normal-form.js';

/** One promise of the broker: what is done, and what must be seen. */
export interface Case {
  /** Cites its rule: `rule H6: ...`. */
  readonly name: string;
  readonly run: (session: Session, channel: TestChannel) => Promise<unknown>;
  /** With `since4` where the versions of RabbitMQ differ. */
  readonly expected: unknown;
  /** Where else it cannot be seen, and why. */
  readonly only?: { readonly on: 'virtual time' | 'the wire'; readonly why: string };
}

export const contract = (name: string, run: Case['run'], expected: unknown): Case => ({ name, run, expected });

/** Two answers, anywhere in an expectation: of RabbitMQ 3.10, and of 4. */
class Versions {
  constructor(
    readonly before: unknown,
    readonly now: unknown,
  ) {}
}

/** An item of a list that one of the versions does not have. */
export const absent = Symbol('absent');

export const since4 = (before: unknown, now: unknown): unknown => new Versions(before, now);

/** What is expected of one version. */
export function expectedOn(profile: ProfileName, expected: unknown): unknown {
  if (expected instanceof Versions) return expectedOn(profile, profile === '4' ? expected.now : expected.before);
  if (Array.isArray(expected))
    return expected.map((item) => expectedOn(profile, item)).filter((item) => item !== absent);
  if (Object.getPrototypeOf(expected ?? 0) !== Object.prototype) return expected;
  return Object.fromEntries(
    Object.entries(expected as object).map(([key, value]) => [key, expectedOn(profile, value)]),
  );
}

export const virtualTimeOnly = (why: string, it: Case): Case => ({ ...it, only: { on: 'virtual time', why } });

/** A case in frames, for brokers that have a wire. */
export const onTheWire = (name: string, run: (wire: WireOptions) => Promise<unknown>, expected: unknown): Case => ({
  ...contract(name, async ({ wire }) => wire && run(wire), expected),
  only: { on: 'the wire', why: 'frames are no matter of the engine' },
});

/** Plain values to a field table: strings S, integers I or l, booleans t; a Field stays what it is. */
export function args(values: Readonly<Record<string, string | number | boolean | Field>>): FieldTable {
  return new Map(Object.entries(values).map(([name, value]) => [name, field(value)]));
}

function field(value: string | number | boolean | Field): Field {
  if (typeof value === 'string') return longstr(value);
  if (typeof value === 'boolean') return bool(value);
  if (typeof value === 'number') return Math.abs(value) < 2 ** 31 ? int32(value) : int64(value);
  return value;
}

/** What an attempt came to: `ok`, or the failure as data. */
export async function attempt(action: Promise<unknown>): Promise<unknown> {
  try {
    await action;
    return 'ok';
  } catch (error) {
    if (error instanceof AdministrationFailure) return { status: error.status, reason: error.reason };
    if (!(error instanceof Failure)) throw error;
    const { code, text, classId, methodId, closes } = error;
    return { code, text, at: `${classId}.${methodId}`, closes };
  }
}

const names: Readonly<Record<number, string>> = {
  403: 'ACCESS_REFUSED',
  404: 'NOT_FOUND',
  405: 'RESOURCE_LOCKED',
  406: 'PRECONDITION_FAILED',
  503: 'COMMAND_INVALID',
  530: 'NOT_ALLOWED',
  540: 'NOT_IMPLEMENTED',
};

/** The expectation of a closed channel. */
export const soft = (code: number, at: string, text: string) => ({
  code,
  text: `${names[code]} - ${text}`,
  at,
  closes: 'channel',
});

/** The expectation of a closed connection. */
export const hard = (code: number, at: string, text: string) => ({ ...soft(code, at, text), closes: 'connection' });

export const bodies = (messages: readonly { readonly body: string }[]): string[] => messages.map(({ body }) => body);

/** The deaths of a message in short: `queue/reason count`, newest first. */
export function deaths(message: Received | undefined): string[] {
  const death = message?.properties.headers?.get('x-death');
  if (death?.type !== 'A') return [];
  return death.value.map((entry) => {
    const fields = entry.type === 'F' ? entry.value : emptyTable;
    const text = (name: string) => String(fields.get(name)?.value);
    return `${text('queue')}/${text('reason')} ${text('count')}`;
  });
}

/** A header's wire type and value, in normal form. */
export function header(session: Session, message: Received | undefined, name: string): unknown {
  const headers = message?.properties.headers;
  const found = headers && normalHeaders(session, headers).find(([known]) => known === name);
  return found?.slice(1);
}

/** The normal form of an x-death entry (rule H5). */
export function death(entry: {
  readonly queue: string;
  readonly reason: string;
  readonly exchange?: string;
  readonly keys: readonly string[];
  readonly count?: number;
  readonly expiration?: unknown;
}): NormalField[] {
  return [
    ['count', 'l', entry.count ?? 1],
    ['exchange', 'S', entry.exchange ?? ''],
    ...(entry.expiration === undefined ? [] : [['original-expiration', 'S', entry.expiration] as const]),
    ['queue', 'S', entry.queue],
    ['reason', 'S', entry.reason],
    ['routing-keys', 'A', entry.keys.map((key) => ['S', key])],
    ['time', 'T', 'NOW'],
  ];
}

/** The normal form of the x-first-death headers (rule H8), and of x-last-death (rule W2). */
export const firstDeath = (reason: string, queue: string, exchange = '', last = { reason, queue, exchange }) => [
  ['x-first-death-exchange', 'S', exchange],
  ['x-first-death-queue', 'S', queue],
  ['x-first-death-reason', 'S', reason],
  since4(absent, ['x-last-death-exchange', 'S', last.exchange]),
  since4(absent, ['x-last-death-queue', 'S', last.queue]),
  since4(absent, ['x-last-death-reason', 'S', last.reason]),
];

/** The queue `work`, dead-lettering to the queue `dead` through the fanout exchange `dlx`. */
export async function workAndDead(
  channel: TestChannel,
  values: Parameters<typeof args>[0] = {},
  options: { readonly durable?: boolean } = {},
): Promise<void> {
  await channel.declareExchange('dlx', 'fanout');
  await channel.declareQueue('dead');
  await channel.bindQueue('dead', 'dlx');
  await channel.declareQueue('work', { ...options, arguments: args({ 'x-dead-letter-exchange': 'dlx', ...values }) });
}

/** Publishes bodies to a queue by the default exchange. */
export async function send(channel: TestChannel, queue: string, ...texts: readonly string[]): Promise<void> {
  for (const body of texts) await channel.publish('', queue, { body });
}

/** Publishes bodies to `work` one after the other, with confirms. @returns `ack` or `nack` for each */
export async function fates(
  session: Session,
  channel: TestChannel,
  ...texts: readonly string[]
): Promise<('ack' | 'nack')[]> {
  const seen: ('ack' | 'nack')[] = [];
  await channel.confirmSelect();
  for (const text of texts) {
    const { length } = channel.confirms().nacked;
    await send(channel, 'work', text);
    await session.settle();
    seen.push(channel.confirms().nacked.length > length ? 'nack' : 'ack');
  }
  return seen;
}

/** Takes messages out of a queue without acknowledging them. */
export async function take(channel: TestChannel, queue: string, count: number): Promise<Received[]> {
  const messages: Received[] = [];
  for (let taken = 0; taken < count; taken += 1) {
    const message = await channel.get(queue);
    if (message !== undefined) messages.push(message);
  }
  return messages;
}

/** Publishes to `work`, rejects, and hands back the dead letter. */
export async function rejected(
  session: Session,
  channel: TestChannel,
  options: PublishOptions = {},
): Promise<Received> {
  await channel.publish('', 'work', options);
  const got = await channel.get('work');
  await channel.reject(got?.deliveryTag ?? 0, false);
  const [dead] = await session.drain('dead');
  if (dead === undefined) throw new Error('the dead letter is missing');
  return dead;
}
