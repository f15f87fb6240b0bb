import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { docsPages, read } from '../docs/pages.js';
import { exportsPageOf, reportOf } from './report.js';
import { type Exported, root, Surface } from './surface.js';

/** The compiler reads the whole library, and prettier formats what it says: twenty seconds of processor time. */
const timeout = 300_000;

let surface: Surface;
let report: string;
let page: string;
let all: readonly (Exported & { readonly specifier: string })[];
beforeAll(async () => {
  surface = new Surface();
  [report, page] = [await reportOf(surface), await exportsPageOf(surface)];
  all = surface.entries.flatMap(({ specifier, exported }) => exported.map((one) => ({ ...one, specifier })));
}, timeout);

const titleOf = ({ specifier, name }: { readonly specifier: string; readonly name: string }): string =>
  `${specifier} ${name}`;

/** Pages that people write. */
const pages = docsPages().filter((page) => !page.startsWith('docs/design/') && page !== 'docs/reference/exports.md');
const text = ['README.md', ...pages].map(read).join('\n');

describe('what the package exports', () => {
  it('is that of the report; `npm run api` renews it', async () => {
    await expect(report).toMatchFileSnapshot(join(root, 'test/api/dlx-broker.api.md'));
  });

  it('is that of docs/reference/exports.md; `npm run api` renews it', async () => {
    await expect(page).toMatchFileSnapshot(join(root, 'docs/reference/exports.md'));
  });

  it('has a doc comment, every name of it', () => {
    expect(all.filter(({ doc }) => doc === '').map(titleOf)).toEqual([]);
  });

  it('is in a group, every name of it', () => {
    expect(all.filter(({ group }) => group === '').map(titleOf)).toEqual([]);
  });

  it('stands in a page of the guide or the reference, every function and class of it', () => {
    const missing = all.filter(({ name, isType }) => !isType && !new RegExp(`\\b${name}\\b`).test(text));
    expect(missing.map(titleOf)).toEqual([]);
  });

  it('has no more names than people can survey', () => {
    const counts = Object.fromEntries(surface.entries.map(({ specifier, exported }) => [specifier, exported.length]));
    expect(Object.keys(counts).sort()).toEqual([
      'dlx-broker',
      'dlx-broker/engine',
      'dlx-broker/metrics',
      'dlx-broker/otel',
      'dlx-broker/server',
      'dlx-broker/streams',
      'dlx-broker/testing',
    ]);
    // A third are types that methods of providers give: with `declaration: true`, as in each Nest application, the compiler refuses a
    // controller that returns one which no entry names. Options that are only passed are inferred, and have no name here.
    expect(counts['dlx-broker']).toBeLessThanOrEqual(96);
    // The registry of an application needs one function, and its type.
    const { 'dlx-broker/metrics': ofMetrics, ...others } = counts;
    expect(ofMetrics).toBe(2);
    for (const count of Object.values(others)) expect(count).toBeGreaterThan(5);
  });

  it('has a name for whatever a function returns', () => {
    expect(surface.returned).toEqual([]);
  });

  it('has no internals', () => {
    const internals = [
      'after',
      'lent',
      'differing',
      'resolveOptions',
      'turnPace',
      'delayedName',
      'WaitQueues',
      'checkOptions',
    ];
    expect(all.filter(({ name }) => internals.includes(name)).map(titleOf)).toEqual([]);
  });
});

it('no entry exports whole rooms', () => {
  for (const { file } of surface.entries) expect(read(file.slice(root.length + 1))).not.toMatch(/^export \*/m);
});
