import { describe, expect, it } from 'vitest';
import { apiHarness } from '../../../../../test/harnesses/api-harness.js';
import { type Columns, rowOf, sorted, valueAt, wantedIn } from './lists.js';

describe('columns', () => {
  const asked: string[] = [];
  const columns: Columns<{ readonly n: number }> = {
    name: ({ n }) => `n${n}`,
    details: ({ n }) => (asked.push('details'), { rate: n, other: 1 }),
    list: () => [{ a: 1, b: 2 }, { b: 3 }],
    table: ({ n }) => Object.assign(Object.create(null) as object, { x: n, y: 2 }),
    never: () => undefined,
  };
  const row = (query: string): unknown => rowOf({ n: 7 }, columns, wantedIn(new URLSearchParams(query)));

  it('that were not asked for are not even made', () => {
    asked.length = 0;
    expect(row('columns=name')).toEqual({ name: 'n7' });
    expect(asked).toEqual([]);
  });

  it.each([
    ['columns=details.rate,name', { details: { rate: 7 }, name: 'n7' }],
    ['columns=details,details.rate', { details: { rate: 7, other: 1 } }],
    ['columns=list.a', { list: [{ a: 1 }, []] }],
    ['columns=table.x', { table: { x: 7, y: 2 } }],
    ['columns=nothing,never,toString', []],
    ['columns=', []],
  ])('%s', (query, expected) => {
    expect(row(query)).toEqual(expected);
  });

  it('have values to sort by', () => {
    expect(valueAt({ n: 3 }, columns, ['details', 'rate'])).toBe(3);
    expect(valueAt({ n: 3 }, columns, ['details', 'constructor'])).toBeUndefined();
    expect(valueAt({ n: 3 }, columns, ['hasOwnProperty'])).toBeUndefined();
  });
});

describe('order is that of Erlang: ', () => {
  it('nothing and numbers, then words of its own, objects, lists, text', () => {
    const values = ['b', [1], { a: 1 }, true, null, 5, undefined, -1, 'a', false];
    const found = sorted(values, (value) => [value], false);
    expect(found).toEqual([-1, undefined, 5, false, null, true, { a: 1 }, [1], 'a', 'b']);
  });

  it('what is equal stays in order, unless all is reversed', () => {
    const items = [['a', 1] as const, ['b', 0] as const, ['c', 1] as const];
    expect(sorted(items, ([, n]) => [n], false).map(([name]) => name)).toEqual(['b', 'a', 'c']);
    expect(sorted(items, ([, n]) => [n], true).map(([name]) => name)).toEqual(['c', 'a', 'b']);
  });
});

describe('a list', () => {
  it('is sorted by what was asked for, then as usual; an empty sort asks for no order', async () => {
    const { call } = apiHarness();
    for (const [name, durable] of [
      ['b', true],
      ['c', false],
      ['a', true],
    ] as const) {
      await call('PUT', `/queues/%2F/${name}`, { body: { durable } });
    }
    const names = async (query: string): Promise<string> => {
      const { body } = await call('GET', `/queues?columns=name&${query}`);
      return (body as readonly { readonly name: string }[]).map(({ name }) => name).join('');
    };
    expect(await names('')).toBe('abc');
    expect(await names('sort=durable')).toBe('cab');
    expect(await names('sort=durable&sort_reverse=true')).toBe('bac');
    expect(await names('sort=')).toBe('bca');
    expect(await names('name=a')).toBe('abc'); // only pages have a filter
  });
});
