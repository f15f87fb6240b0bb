import { describe, expect, it } from 'vitest';
import {
  array,
  type Field,
  type FieldTable,
  int32,
  longstr,
  Message,
  table,
  tableSize,
} from '../../engine/message/index.js';
import { addEntry, type ErrorEntry, readHistory, writeHistory } from './error-entries.js';
import { errorKind, fingerprintIn, fingerprintOf } from './origin.js';
import { headersForRedrive, headersForRetry, mostHeaderBytes } from './republished.js';

const now = 1_700_000_000_000;
const entry = (attempt: number, more: Partial<ErrorEntry> = {}): ErrorEntry => ({
  attempt,
  at: new Date(now + attempt),
  name: 'Error',
  message: `failure ${attempt}`,
  ...more,
});

function headersWith(entries: readonly ErrorEntry[], own: FieldTable = new Map()): Map<string, Field> {
  const headers = new Map(own);
  writeHistory(headers, { errors: entries, omitted: 0 });
  return headers;
}

const messageWith = (headers: FieldTable): Message => new Message('', 'work', { headers }, new Uint8Array());

describe('the history of the errors of a message', () => {
  it('is bounded: the first failure stays, the middle goes, and is counted', () => {
    let history = readHistory(undefined);
    for (let attempt = 1; attempt <= 200; attempt++) history = addEntry(history, entry(attempt), 10);
    expect(history.errors.map(({ attempt }) => attempt)).toEqual([200, 199, 198, 197, 196, 195, 194, 193, 192, 1]);
    expect(history.omitted).toBe(190);
  });

  it('comes back from headers as it was written, with its texts cut between characters', () => {
    const full = entry(3, { handler: 'Orders.created', host: 'shop-1', took: 12, message: `${'x'.repeat(255)}😀` });
    const headers = new Map<string, Field>();
    writeHistory(headers, { errors: [full, entry(1)], omitted: 1 });
    const cut = { ...full, message: 'x'.repeat(255) };
    expect(readHistory(headers)).toEqual({ errors: [cut, entry(1)], omitted: 1 });
  });

  const fields = (more: Readonly<Record<string, Field>>): Field =>
    table(new Map(Object.entries({ attempt: int32(1), at: int32(5), name: longstr('E'), ...more })));
  it.each<[string, Field]>([
    ['a string', longstr('no')],
    ['an empty array', array([])],
    ['texts', array([longstr('a'), longstr('b')])],
    ['an entry without a time', array([table(new Map([['attempt', int32(1)]]))])],
    ['an attempt below 0', array([fields({ attempt: int32(-1) })])],
    ['a time that no date can have', array([fields({ at: { type: 'l', value: 9e15 } })])],
    ['a time of 64 bits', array([fields({ at: { type: 'l', value: 2n ** 62n } })])],
    ['a name that is a number', array([fields({ name: int32(1) })])],
  ])('is none where a publisher wrote %s', (_, field) => {
    expect(readHistory(new Map([['dlx-errors', field]]))).toEqual({ errors: [], omitted: 0 });
  });

  it('keeps the entries that can be read, of many no more than a hundred, and cuts what is too long', () => {
    const many = array([
      longstr('no'),
      ...Array.from({ length: 5_000 }, () => fields({ name: longstr('E'.repeat(1_000)) })),
    ]);
    const { errors } = readHistory(new Map([['dlx-errors', many]]));
    expect(errors).toHaveLength(99);
    expect(errors[0]?.name).toHaveLength(128);
  });

  it('stays at a redrive, which is an entry, and is one entry with a redrive right after', () => {
    const failed = headersWith([entry(2), entry(1)], new Map([['dlx-error-class', longstr('Error')]]));
    const once = headersForRedrive(messageWith(failed), now);
    expect(readHistory(once).errors).toEqual([
      { attempt: 2, at: new Date(now), name: 'Redrive', message: '', redrive: 1 },
      entry(2),
      entry(1),
    ]);
    const twice = headersForRedrive(messageWith(once), now + 5);
    expect(readHistory(twice).errors.map(({ redrive }) => redrive)).toEqual([2, undefined, undefined]);
    expect(twice.has('dlx-error-class')).toBe(false);
    expect(headersForRedrive(messageWith(new Map()), now).has('dlx-errors')).toBe(false);
  });

  it('has the time of each redrive, also of messages with the same headers', () => {
    const headers = headersWith([entry(1)]);
    const [first, again, later] = [now, now, now + 1].map((time) => headersForRedrive(messageWith(headers), time));
    expect(again).toBe(first);
    expect(readHistory(first).errors[0]?.at).toEqual(new Date(now));
    expect(readHistory(later).errors[0]?.at).toEqual(new Date(now + 1));
  });

  it('goes neither with the holds nor with the fingerprint of a redriven message', () => {
    const own = new Map([
      ['dlx-holds', int32(3)],
      ['dlx-fingerprint', longstr('1:ab')],
    ]);
    expect([...headersForRedrive(messageWith(own), now).keys()]).toEqual(['dlx-redrives']);
  });
});

describe('headers that would be larger than 64 KB', () => {
  it('lose the deaths at last, and keep the number of the attempt', () => {
    const died = new Message(
      '',
      'work',
      { headers: new Map([['foreign', longstr('f'.repeat(65_480))]]) },
      new Uint8Array(),
    );
    const rejected = { queue: 'work', attempt: 2, failedAt: now, isParked: false, isRejected: true };
    const { headers, leftOut } = headersForRetry(died, rejected, headersWith(entries));
    expect([leftOut, headers.has('dlx-deaths'), headers.has('dlx-errors'), headers.get('dlx-attempt')?.value]).toEqual([
      'the history of its errors and its deaths',
      false,
      false,
      2,
    ]);
  });

  const progress = { queue: 'work', attempt: 2, failedAt: now, isParked: false };
  const entries = Array.from({ length: 10 }, (_, index) => entry(10 - index, { message: 'm'.repeat(256) }));
  const successor = (foreign: number, stack: number) =>
    headersForRetry(
      messageWith(new Map([['foreign', longstr('f'.repeat(foreign))]])),
      progress,
      headersWith(entries, new Map([['dlx-error-stack', longstr('s'.repeat(stack))]])),
    );

  it.each([
    [1_000, 40_000, undefined, { stack: true, errors: 10 }],
    [30_000, 40_000, 'the stack of its error', { stack: false, errors: 10 }],
    [63_000, 40_000, 'the history of its errors', { stack: false, errors: 2 }],
    [65_000, 40_000, 'the history of its errors', { stack: false, errors: 0 }],
    [120_000, 40_000, 'the history of its errors', { stack: false, errors: 0 }],
  ])('with %i foreign bytes and a stack of %i lose %s', (foreign, stack, leftOut, left) => {
    const found = successor(foreign, stack);
    const { errors } = readHistory(found.headers);
    expect([found.leftOut, { stack: found.headers.has('dlx-error-stack'), errors: errors.length }]).toEqual([
      leftOut,
      left,
    ]);
    expect(found.headers.get('foreign')?.value).toHaveLength(foreign);
    if (left.errors === 2) expect(errors.map(({ attempt }) => attempt)).toEqual([10, 1]);
    if (foreign < mostHeaderBytes) expect(tableSize(found.headers)).toBeLessThanOrEqual(mostHeaderBytes);
  });
});

describe('the fingerprint of a failure', () => {
  it('is one for two builds, hosts and identifiers, and another for another handler, class or kind', () => {
    const one = fingerprintOf('Orders.created', 'TimeoutError', 'no answer after 250 ms for 0x1f');
    expect(one).toMatch(/^1:[0-9a-f]{16}$/);
    expect(fingerprintOf('Orders.created', 'TimeoutError', 'no answer after 1000 ms for 0xab')).toBe(one);
    const others = [
      fingerprintOf('Orders.paid', 'TimeoutError', 'no answer after 250 ms for 0x1f'),
      fingerprintOf('Orders.created', 'Error', 'no answer after 250 ms for 0x1f'),
      fingerprintOf('Orders.created', 'TimeoutError', 'refused'),
      fingerprintOf('Orders.created', 'TimeoutError', undefined),
    ];
    expect(new Set([one, ...others]).size).toBe(5);
  });

  it('does not change with the length of numbers in a long message', () => {
    const text = (id: number): string => `${'word '.repeat(38)}id ${id} is not there at all, and more words follow`;
    expect(errorKind('E', text(7))).toBe(errorKind('E', text(1_234_567)));
  });

  it('is read as it was written, and is calculated from the error where it is missing or none', () => {
    const failed = new Map([
      ['dlx-error-class', longstr('Error')],
      ['dlx-error-message', longstr('no 1')],
      ['dlx-queue', longstr('work')],
    ]);
    const calculated = fingerprintOf('work', 'Error', 'no 2');
    const of = (field?: Field) =>
      fingerprintIn(messageWith(field ? new Map(failed).set('dlx-fingerprint', field) : failed));
    expect(of(longstr('payments'))).toBe('payments');
    expect([of(), of(int32(1)), of(longstr('')), of(longstr('x'.repeat(129)))]).toEqual(Array(4).fill(calculated));
    expect(fingerprintIn(messageWith(new Map()))).toBeUndefined();
  });

  it('is that of the handler in the history', () => {
    const own = new Map([['dlx-error-class', longstr('Error')]]);
    const headers = headersWith([entry(1, { handler: 'Orders.created' })], own);
    expect(fingerprintIn(messageWith(headers))).toBe(fingerprintOf('Orders.created', 'Error', undefined));
  });
});
