import { describe, expect, it } from 'vitest';
import { array, type Field, type FieldTable, Message, toFieldTable } from '../../engine/message/index.js';
import { deathIn, historyAfter, historyOf, mostDeaths, writeDeaths } from './attempts.js';
import { headersForRetry } from './republished.js';

type Plain = Readonly<Record<string, unknown>>;
const messageWith = (headers: FieldTable): Message => new Message('events', 'order', { headers }, new Uint8Array());
const died = (before: unknown, since: unknown = undefined): Message =>
  messageWith(toFieldTable({ 'dlx-deaths': before, ...(since !== undefined && { 'x-death': since }) }));
const entry = (queue: string, reason: string, more: Plain = {}): Plain => ({ queue, reason, count: 1, ...more });
const short = (message: Message) => historyOf(message).map(({ queue, reason, count }) => [queue, reason, count]);

describe('the deaths of a message', () => {
  it('are those before the republish and those since: counts add, the first stays, the latest is in front (rules H6, H7)', () => {
    const first = entry('wait', 'expired', { exchange: 'first', count: 2 });
    const again = entry('wait', 'expired', { exchange: 'again', count: 3 });
    const message = died([entry('work', 'rejected'), first], [again, entry('late', 'expired')]);
    expect(historyOf(message)).toMatchObject([
      { queue: 'wait', reason: 'expired', count: 5, exchange: 'first' },
      { queue: 'late', reason: 'expired', count: 1 },
      { queue: 'work', reason: 'rejected', count: 1 },
    ]);
  });

  it.each<[string, unknown, readonly unknown[]]>([
    ['no array', 7, []],
    ['no tables', [1, 'x', null], []],
    ['no queue', [{ reason: 'rejected' }], []],
    ['one pair twice', [entry('q', 'rejected'), entry('q', 'rejected', { count: 4 })], [['q', 'rejected', 5]]],
    ['a reason of its own', [entry('q', 'bored')], [['q', 'bored', 1]]],
    ['a count below zero', [entry('q', 'expired', { count: -5 })], [['q', 'expired', 0]]],
    ['a count above any', [entry('q', 'expired', { count: 9e15 })], [['q', 'expired', 2_147_483_646]]],
  ])('are read with care from a forged header: %s', (_, forged, deaths) => {
    expect(short(died(forged))).toEqual(deaths);
  });

  it('are at most 64, the latest, however many a publisher wrote', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => entry(`q${index}`, 'expired'));
    const message = died(many, many.slice(500));
    expect(historyOf(message)).toHaveLength(mostDeaths);
    const headers = new Map<string, Field>();
    writeDeaths(headers, historyAfter(message, deathIn('work', 'rejected', message, 1_999)));
    const [latest, second, ...others] = historyOf(messageWith(headers));
    expect([latest, second?.queue, others.length]).toEqual([
      { queue: 'work', reason: 'rejected', exchange: 'events', routingKeys: ['order'], count: 1, time: 1_000 },
      'q500',
      mostDeaths - 2,
    ]);
  });

  it.each([
    ['count', { count: -5 }, { count: 0 }],
    ['count', { count: 9e15 }, { count: 2_147_483_646 }],
    ['time', { time: -1 }, { time: 0 }],
    ['time', { time: 9e15 }, { time: 0 }],
  ])('are written with a %s that any broker takes: %o', (_, forged, written) => {
    const headers = new Map<string, Field>();
    writeDeaths(headers, historyOf(died([entry('q', 'expired', forged)])));
    expect(historyOf(messageWith(headers))).toMatchObject([written]);
  });

  it('have the keys of CC, as those that a broker records (rule H5)', () => {
    const { routingKeys } = deathIn('work', 'rejected', messageWith(toFieldTable({ CC: ['copy', 7] })), 0);
    expect(routingKeys).toEqual(['order', 'copy']);
  });

  it('are one object for messages that expired and failed together, and no header without a death', () => {
    const own = toFieldTable({ tenant: 'a' });
    const progress = { queue: 'work', attempt: 3, failedAt: 5_000, isRejected: true, isParked: false };
    const expired = (queue: string) => {
      const message = messageWith(own);
      const death = { ...deathIn(queue, 'expired', message, 4_000), exchange: queue };
      Object.defineProperty(message, 'deaths', { value: { entries: () => [death] } });
      return message;
    };
    const of = (queue: string) => headersForRetry(expired(queue), progress, undefined).headers;
    expect(of('wait.5')).toBe(of('wait.5'));
    expect(of('wait.6')).not.toEqual(of('wait.5'));
    const held = { queue: 'work', attempt: 1, failedAt: undefined, isParked: false };
    expect(headersForRetry(messageWith(own), held, undefined).headers.has('dlx-deaths')).toBe(false);
    expect(headersForRetry(died(array([])), held, undefined).headers.has('dlx-deaths')).toBe(false);
  });
});
