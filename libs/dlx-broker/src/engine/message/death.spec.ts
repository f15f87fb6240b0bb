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
  it('as an entry with its fields in wire order (rule H5)', () => {
    const message = messageWith(undefined, { expiration: '+50' });
    const letter = die(message, death('work', 'expired', { routingKeys: ['a', 'b'] }));
    const deaths = seen(letter).get('x-death');
    expect(deaths).toEqual(
      array([
        entry({
          count: int64(1),
          reason: longstr('expired'),
          queue: longstr('work'),
          time: { type: 'T', value: 1_700_000_000 },
          exchange: longstr('orders'),
          'routing-keys': array([longstr('a'), longstr('b')]),
          'original-expiration': longstr('+50'),
        }),
      ]),
    );
    const first = deaths?.type === 'A' && deaths.value[0];
    expect(first && first.type === 'F' && [...first.value.keys()]).toEqual([
      'count',
      'reason',
      'queue',
      'time',
      'exchange',
      'routing-keys',
      'original-expiration',
    ]);
  });

  it('by counting when the pair is known, changing nothing else, and comes first (rules H6, H7)', () => {
    const once = after('work rejected', 'delay expired');
    const twice = die(once, death('work', 'rejected', { time: 1_800_000_000_000, exchange: 'x', routingKeys: ['y'] }));
    expect(pairs(twice)).toEqual(['work rejected 2', 'delay expired 1']);
    expect(deathsOf(twice)[0]).toMatchObject({ exchange: 'orders', routingKeys: ['new'], time: 1_700_000_000_000 });
  });

  it('newest first however many pairs there are (rule H7, and not bug V2)', () => {
    const letter = after('a expired', 'b expired', 'c maxlen', 'd rejected', 'b expired');
    expect(pairs(letter)).toEqual(['b expired 2', 'd rejected 1', 'c maxlen 1', 'a expired 1']);
  });

  it('with x-first-death headers the first time only, over what a client sent (rule H8)', () => {
    const sent = headersOf({ 'x-first-death-queue': longstr('made up'), other: int32(1) });
    const first = die(messageWith(sent), death('work', 'rejected'));
    expect(firstDeathOf(first)).toEqual({ reason: 'rejected', queue: 'work', exchange: 'orders' });
    expect(firstDeathOf(seen(first))).toEqual({ reason: 'rejected', queue: 'work', exchange: 'orders' });
    expect(seen(first).get('other')).toBe(sent.get('other'));
    expect(firstDeathOf(die(first, death('delay', 'expired')))).toMatchObject({ queue: 'work' });
  });

  it('in a new message: neither the old one nor its entries change (rule H13)', () => {
    const old = after('work rejected', 'delay expired');
    const before = [pairs(old), new Map(seen(old))];
    die(old, death('delay', 'expired'));
    die(old, death('work', 'rejected'));
    expect([pairs(old), seen(old)]).toEqual(before);
  });
});

describe('a history that a client sent', () => {
  it('is believed: counts of any integer type go on as int64, other fields stay, no first death (rule H9)', () => {
    const mine = { queue: longstr('q'), reason: longstr('rejected'), mine: longstr('kept') };
    for (const count of [int32(4), { type: 'B', value: 4 }, int64(4n)] satisfies Field[]) {
      const letter = die(messageWith(forged(entry({ ...mine, count }))), death('q', 'rejected'));
      const deaths = seen(letter).get('x-death');
      const bumped = deaths?.type === 'A' ? deaths.value[0] : undefined;
      expect(bumped?.type === 'F' && bumped.value.get('count')?.type).toBe('l');
      expect(bumped?.type === 'F' && bumped.value.get('mine')).toEqual(longstr('kept'));
      expect(pairs(letter)).toEqual(['q rejected 5']);
      expect(firstDeathOf(letter)).toBeUndefined();
    }
  });

  it('without counts: a lone entry becomes 1, duplicates their number and one more (rule H10)', () => {
    const pair = { queue: longstr('q'), reason: longstr('rejected') };
    const dies = (...deaths: Field[]): string[] => pairs(die(messageWith(forged(...deaths)), death('q', 'rejected')));
    expect(dies(entry(pair))).toEqual(['q rejected 1']);
    expect(dies(entry(pair), entry(pair), entry(pair))).toEqual(['q rejected 4']);
    expect(dies(entry({ ...pair, count: int32(5) }), entry({ ...pair, count: int32(7) }))).toEqual(['q rejected 6']);
    const other = entry({ queue: longstr('o'), reason: longstr('expired') });
    expect(dies(other, other)).toEqual(['q rejected 1', 'o expired 2']);
  });

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

  it('gives an entry that stood alone without a count 1 at the second death (rule H10)', () => {
    const pair = { queue: longstr('q'), reason: longstr('rejected') };
    const once = die(messageWith(forged(entry(pair))), death('a', 'rejected'));
    expect(pairs(die(once, death('q', 'rejected')))).toEqual(['q rejected 2', 'a rejected 1']);
    const other = seen(die(once, death('b', 'rejected'))).get('x-death');
    const last = other?.type === 'A' ? other.value[2] : undefined;
    expect(last?.type === 'F' && last.value.get('count')).toEqual(int64(1));
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

describe('RabbitMQ 4', () => {
  it('replaces the history a client sent (rule W3)', () => {
    const sent = messageWith(seen(after('work rejected', 'work rejected')));
    const letter = die(sent, death('delay', 'expired'), profiles['4']);
    expect(pairs(letter)).toEqual(['delay expired 1']);
    expect(pairs(messageWith(seen(letter)))).toEqual(['delay expired 1']);
    expect(firstDeathOf(letter)).toMatchObject({ queue: 'delay' });
    expect(pairs(die(letter, death('work', 'rejected'), profiles['4']))).toHaveLength(2);
  });

  it('names the last death beside the first (rule W2)', () => {
    const first = die(messageWith(), death('work', 'rejected'), profiles['4']);
    const second = seen(die(first, death('delay', 'expired'), profiles['4']));
    expect(second.get('x-first-death-queue')).toEqual(longstr('work'));
    expect(second.get('x-last-death-queue')).toEqual(longstr('delay'));
    expect(second.get('x-last-death-reason')).toEqual(longstr('expired'));
  });
});

describe('a cycle is closed', () => {
  it.each<[string, string[], string, boolean]>([
    ['(a) by a queue that expires into itself', ['q expired'], 'q', true],
    ['(b) by A to B to A, all expired', ['a expired', 'b expired'], 'a', true],
    ['(e) by overflow', ['a maxlen', 'b maxlen'], 'a', true],
    ['(f) when the newest entry is automatic, though it was rejected before', ['q rejected', 'q expired'], 'q', true],
    ['(I5) when the rejection is older than the cycle', ['w rejected', 'a expired', 'b expired'], 'a', true],
    ['(D2) by a delivery limit', ['q delivery_limit'], 'q', true],
  ])('%s (rule I4)', (_, deaths, queue, closed) => {
    expect(after(...deaths).deaths?.closesCycle(queue)).toBe(closed);
  });

  it.each<[string, string[], string]>([
    ['(c) when a consumer rejected on the way', ['work rejected', 'delay expired'], 'work'],
    ['(d) when it was rejected just now', ['q rejected'], 'q'],
    ['(I1) when it was rejected just now, after an automatic death', ['q expired', 'q rejected'], 'q'],
    ['(g) for a queue it never died in', ['a expired', 'b expired'], 'c'],
  ])('never %s (rule I4)', (_, deaths, queue) => {
    expect(after(...deaths).deaths?.closesCycle(queue)).toBe(false);
  });

  it('with a history that a client forged too (rule I6)', () => {
    const headers = forged(entry({ queue: longstr('target'), reason: longstr('expired'), count: int32(1) }));
    expect(die(messageWith(headers), death('q', 'expired')).deaths?.closesCycle('target')).toBe(true);
  });
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
