import * as engine from 'dlx-broker/engine';
import * as front from 'dlx-broker';
import * as server from 'dlx-broker/server';
import * as streams from 'dlx-broker/streams';
import * as testing from 'dlx-broker/testing';
import { describe, expect, it } from 'vitest';
import { replyCodes } from '../../libs/dlx-broker/src/engine/broker/errors.js';
import { profiles } from '../../libs/dlx-broker/src/engine/broker/profile.js';
import { read } from './pages.js';

const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort();

describe('docs/reference/errors.md', () => {
  it('has every exported class of errors', () => {
    const exported = [front, engine, server, streams, testing].flatMap((entry) =>
      Object.entries(entry).flatMap(([name, value]) =>
        typeof value === 'function' && (value as { prototype?: unknown }).prototype instanceof Error ? [name] : [],
      ),
    );
    const shown = [...read('docs/reference/errors.md').matchAll(/^\| `(\w+)` /gm)].map(([, name]) => name!);
    expect(exported.length).toBeGreaterThan(10);
    expect(sorted(exported).filter((name) => !shown.includes(name))).toEqual([]);
  });

  it('has every reply code, and what it closes', () => {
    const rows = [...read('docs/reference/errors.md').matchAll(/^\| (\d{3}) +\| ([A-Z_]+) +\| (\w+) +\|/gm)];
    const shown = rows.map(([, code, name, closes]) => [name, { code: Number(code), closes }]);
    expect(Object.fromEntries(shown)).toEqual(replyCodes);
  });
});

it('docs/reference/metrics.md has every field of DlxBroker.counts', async () => {
  const dlx = await testing.DlxTesting.create({});
  const fields = Object.keys(dlx.app.get(front.DlxBroker, { strict: false }).counts);
  await dlx.close();
  const [, table = ''] = /## `DlxBroker\.counts`\n[^|]*((?:\|.*\n)+)/.exec(read('docs/reference/metrics.md')) ?? [];
  expect(sorted([...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name!))).toEqual(sorted(fields));
});

it.each(Object.entries(profiles))('docs/reference/profiles.md has every field of profile %s', (_, profile) => {
  const [, table = ''] = /## All differences\n\n((?:\|.*\n)+)/.exec(read('docs/reference/profiles.md')) ?? [];
  expect(sorted([...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name!))).toEqual(sorted(Object.keys(profile)));
});

describe('docs/guide/testing.md', () => {
  const page = read('docs/guide/testing.md');

  it('has every option of DlxTesting', async () => {
    const refusal = await testing.DlxTesting.create({}, { unknown: 1 } as object).catch(
      (error: Error) => error.message,
    );
    const options = /there are (.*)$/.exec(refusal as string)?.[1]?.split(', ') ?? [];
    expect(options).toContain('transport');
    const [, table = ''] = /\n\| option .*\n((?:\|.*\n)+)/.exec(page) ?? [];
    expect(sorted([...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name!))).toEqual(sorted(options));
  });

  it('has every member of DlxTesting', () => {
    const members = Object.getOwnPropertyNames(testing.DlxTesting.prototype).filter((name) => name !== 'constructor');
    expect(members.length).toBeGreaterThan(10);
    expect(members.filter((name) => !new RegExp(`\`(?:dlx\\.)?${name}[\`(]`).test(page))).toEqual([]);
  });
});
