import { describe, expect, it } from 'vitest';
import { die } from '../../../../../test/harnesses/die.js';
import { profiles } from '../broker/index.js';
import { type DeathEntry, type DeathReason, stripDeaths } from './death.js';
import { deathsOf, firstDeathOf } from './deaths.js';
import { array, type Field, type FieldTable, int32, int64, longstr, table } from './field-table.js';
import { Message } from './message.js';
import type { Properties } from './properties.js';

const death = (queue: string, reason: DeathReason, more: Partial<DeathEntry> = {}): DeathEntry => ({
  queue,
  reason,
  exchange: 'orders',
  routingKeys: ['new'],
  count: 1,
  time: 1_700_000_000_000,
  ...more,
});

const messageWith = (headers?: FieldTable, more: Properties = {}): Message =>
  new Message('orders', 'new', { ...more, headers }, new Uint8Array());
/** The headers as a consumer of the message sees them. */
const seen = (message: Message): FieldTable => message.properties.headers as FieldTable;

const headersOf = (entries: Record<string, Field>): FieldTable => new Map(Object.entries(entries));
const entry = (entries: Record<string, Field>): Field => table(headersOf(entries));
const forged = (...deaths: Field[]): FieldTable => headersOf({ 'x-death': array(deaths) });
const pairs = (message: Message): string[] =>
  deathsOf(message).map(({ queue, reason, count }) => `${queue} ${reason} ${count}`);

/** A message after these deaths, `queue reason` each. */
const after = (...deaths: string[]): Message => {
  let message = messageWith(new Map());
  for (const each of deaths) {
    const [queue, reason] = each.split(' ') as [string, DeathReason];
    message = die(message, death(queue, reason));
  }
  return message;
};

describe('a death is recorded', () => {
  it('in a new message: neither the old one nor its entries change (rule H13)', () => {
    const old = after('work rejected', 'delay expired');
    const before = [pairs(old), new Map(seen(old))];
    die(old, death('delay', 'expired'));
    die(old, death('work', 'rejected'));
    expect([pairs(old), seen(old)]).toEqual(before);
  });
});

describe('a history that a client sent', () => {
  it('of ten thousand entries is looked through a few times, and not once for each entry', () => {
    let looks = 0;
    class Watched extends Map<string, Field> {
      override get(name: string): Field | undefined {
        looks++;
        return super.get(name);
      }
      override has(name: string): boolean {
        looks++;
        return super.has(name);
      }
    }
    const many = Array.from({ length: 10_000 }, (_, n) =>
      table(
        new Watched([
          ['queue', longstr(`q${n}`)],
          ['reason', longstr('expired')],
          ['count', int64(1)],
        ]),
      ),
    );
    const once = die(messageWith(forged(...many)), death('q', 'rejected'));
    expect(looks / many.length).toBeLessThan(10);
    looks = 0;
    const twice = die(once, death('other', 'rejected'));
    expect(looks / many.length).toBeLessThan(10);
    expect(deathsOf(twice)).toHaveLength(10_002);
  });

  it('is replaced when it is no array, its elements no tables, or the count no integer (rules H11, V5)', () => {
    const pair = { queue: longstr('q'), reason: longstr('rejected') };
    for (const header of [
      longstr('x'),
      int32(1),
      table(new Map()),
      array([longstr('x')]),
      array([entry(pair), int32(1)]),
      array([entry({ ...pair, count: longstr('2') })]),
      array([entry({ ...pair, count: { type: 'd', value: 2 } })]),
    ]) {
      const letter = die(messageWith(headersOf({ 'x-death': header })), death('q', 'rejected'));
      expect(pairs(letter)).toEqual(['q rejected 1']);
      expect(firstDeathOf(letter)).toBeUndefined();
    }
  });

  it('keeps counting beyond the safe integers', () => {
    const last = entry({ queue: longstr('q'), reason: longstr('expired'), count: int64(Number.MAX_SAFE_INTEGER) });
    const letter = die(messageWith(forged(last)), death('q', 'expired'));
    const again = seen(die(letter, death('q', 'expired'))).get('x-death');
    const bumped = again?.type === 'A' ? again.value[0] : undefined;
    expect(bumped?.type === 'F' && bumped.value.get('count')).toEqual(int64(9_007_199_254_740_993n));
  });
});

it('a delivery limit closes a cycle, as it rejects nothing (rules I4, D2)', () => {
  expect(after('q delivery_limit').deaths?.closesCycle('q')).toBe(true);
});

describe('the history of deaths', () => {
  it.each([
    ['+50', profiles['3.10']],
    ['+50', profiles['4']],
    [undefined, profiles['3.10']],
  ])('the same from the records as from the header they become (%s)', (expiration, dialect) => {
    const first = die(messageWith(undefined, { expiration }), death('work', 'rejected'), dialect);
    const twice = die(first, death('delay', 'expired', { routingKeys: ['a', 'b'] }), dialect);
    const thrice = die(twice, death('work', 'rejected'), dialect);
    expect(deathsOf(thrice)).toHaveLength(2);
    expect(deathsOf(thrice)[0]?.originalExpiration).toBe(dialect === profiles['4'] ? '50' : expiration);
    expect(thrice.properties.expiration).toBeUndefined();
    expect(deathsOf(thrice)).toEqual(deathsOf(seen(thrice)));
    expect(firstDeathOf(thrice)).toEqual(firstDeathOf(seen(thrice)));
  });

  it('is empty where there is none or nonsense', () => {
    expect(deathsOf(undefined)).toEqual([]);
    expect(deathsOf(headersOf({ 'x-death': longstr('x') }))).toEqual([]);
    expect(deathsOf(forged(longstr('x'), entry({ queue: int32(1) }), table(new Map())))).toEqual([]);
    expect(deathsOf(forged(entry({ queue: longstr('q'), reason: longstr('odd') })))).toEqual([
      { queue: 'q', reason: 'odd', exchange: '', routingKeys: [], count: 1, time: 0 },
    ]);
  });

  it('can be stripped, and nothing else is', () => {
    const headers = seen(die(messageWith(headersOf({ mine: int32(1) })), death('q', 'rejected'), profiles['4']));
    expect([...stripDeaths(headers).keys()]).toEqual(['mine']);
    expect(headers.has('x-death')).toBe(true);
    const untouched = headersOf({ mine: int32(1) });
    expect(stripDeaths(untouched)).toBe(untouched);
  });
});
