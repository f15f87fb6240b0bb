import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allowedTo, fronts, rooms as table, testing } from '../scripts/rooms.mjs';

const rooms = [...table.map(({ name }) => name), testing.name];
/** Neither time nor chance nor a host in these. */
const pure = table.filter(({ core }) => core).map(({ name }) => name);
const lent = [
  'Date',
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'Promise',
  'process',
  'console',
  'globalThis',
  'crypto',
];

const root = resolve(import.meta.dirname, '..');
const source = 'libs/dlx-broker/src';
const snippets = new Map<string, string>();
let found: Map<string, string[]>;
let house: string;

/** Adds a file to the house that is linted; its name is the case. */
function file(path: string, code: string): string {
  snippets.set(path, code);
  return path;
}

const imports = (path: string): string => `import { thing } from '${path}';\nexport const it = thing;\n`;
const wallOf = 'eslint(no-restricted-imports)';
const globals = 'eslint(no-restricted-globals)';
const properties = 'eslint(no-restricted-properties)';

interface Case {
  readonly name: string;
  readonly path: string;
  readonly expected: readonly string[];
}
const cases: Case[] = [];
function expects(name: string, path: string, code: string, expected: readonly string[] = []): void {
  cases.push({ name, path: file(`${source}/${path}`, code), expected });
}

for (const entry of table) {
  const room = entry.name;
  const allowed = allowedTo(entry);
  for (const other of rooms.filter((name) => name !== room)) {
    const open = allowed.includes(other);
    const expected = open ? [] : [wallOf];
    const verb = open ? 'may enter' : 'may not enter';
    expects(`${room} ${verb} ${other}`, `${room}/to-${other}.ts`, imports(`../${other}/index.js`), expected);
    expects(
      `${room} ${verb} ${other} from a folder of its own`,
      `${room}/inner/to-${other}.ts`,
      imports(`../../${other}/index.js`),
      expected,
    );
    expects(
      `${room} may not enter ${other} by a window`,
      `${room}/window-${other}.ts`,
      imports(`../${other}/deep/file.js`),
      [wallOf],
    );
  }
  expects(
    `${room} may not import types through a wall`,
    `${room}/types.ts`,
    `export type { T } from '../testing/index.js';\n`,
    [wallOf],
  );
  expects(
    `${room} may not import late through a wall`,
    `${room}/late.ts`,
    `export const late = () => import('../testing/index.js');\n`,
    [wallOf],
  );
  for (const front of fronts) {
    const isOpen = room === 'cli' && ['serve', 'open-broker'].includes(front); // a move opens data directories
    const [open, verb] = isOpen ? [[], 'may know'] : [[wallOf], 'may not know'];
    expects(`${room} ${verb} ${front}`, `${room}/front-${front}.ts`, imports(`../${front}.js`), open);
    const inner = `${room}/inner/front-${front}.ts`;
    expects(`${room} ${verb} ${front} from a folder of its own`, inner, imports(`../../${front}.js`), open);
  }
  expects(`${room} imports its own files`, `${room}/own.ts`, imports('./inner/file.js'));
  expects(`a spec of ${room} may use testing`, `${room}/some.spec.ts`, imports('../testing/harness.js'));
}

for (const room of pure) {
  for (const name of lent) {
    expects(`${room} does not use ${name}`, `${room}/uses-${name}.ts`, `export const use = () => ${name};\n`, [
      globals,
    ]);
  }
  expects(`${room} does not use Math.random`, `${room}/random.ts`, 'export const use = () => Math.random();\n', [
    properties,
  ]);
  expects(`${room} does not take random out of Math`, `${room}/taken.ts`, 'export const { random } = Math;\n', [
    properties,
  ]);
  expects(`${room} may calculate`, `${room}/calculates.ts`, 'export const use = () => Math.floor(1.5);\n');
  expects(`${room} uses no library`, `${room}/library.ts`, imports('rxjs'), [wallOf]);
  expects(`${room} uses nothing of Node`, `${room}/node.ts`, imports('node:fs'), [wallOf]);
}

for (const joins of ['serve.ts', 'open-broker.ts', 'listeners.ts', 'nest/brokers/connect-embedded.ts']) {
  const up = joins.includes('/') ? '../../' : './';
  const all = ['alarms', 'broker', 'users', 'store', 'amqp', 'management', 'backend'];
  const code = (tail: string): string => all.map((room) => `export * from '${up}${room}/${tail}';\n`).join('');
  expects(`${joins} joins the rooms`, joins, code('index.js'));
  if (up === './') expects(`${joins} knows no command`, `asks-${joins}`, imports('./cli/main.js'), [wallOf]);
}
expects('the front door enters by no window', 'index.ts', imports('./broker/queue/queue.js'), [wallOf]);
expects('nest has a server of its own', 'nest/uses-server.ts', imports('./server.js'));
expects('testing may enter anywhere', 'testing/anywhere.ts', imports('../broker/queue/queue.js'));
expects('nobody says any', 'store/any.ts', 'export const loose = (value: any) => value;\n', [
  'typescript(no-explicit-any)',
]);
expects('no file has more than 500 lines of code', 'store/long.ts', 'export {};\n'.repeat(501), ['eslint(max-lines)']);
expects(
  'comments and blank lines are free',
  'store/talks.ts',
  `${'export {};\n'.repeat(299)}${'// why\n\n'.repeat(99)}`,
);
for (const free of ['store/long.spec.ts', 'wire/methods/from-clients.ts']) {
  expects(`${free} may be as long as it has to`, free, 'export {};\n'.repeat(301));
}
file(`${source}/store/cycle-b.ts`, `import { a } from './cycle-a.js';\nexport const b = () => a;\n`);
expects('no imports in a cycle', 'store/cycle-a.ts', `import { b } from './cycle-b.js';\nexport const a = () => b;\n`, [
  'import(no-cycle)',
]);
file(`${source}/store/types-b.ts`, `import type { A } from './types-a.js';\nexport type B = A | number;\n`);
expects(
  'no imports in a cycle, of types neither',
  'store/types-a.ts',
  `import type { B } from './types-b.js';\nexport interface A { readonly b: B }\n`,
  ['import(no-cycle)'],
);
cases.push({
  name: 'a sample does not reach into the library',
  path: file('apps/some/src/main.ts', imports('../../../libs/dlx-broker/src/index.js')),
  expected: [wallOf],
});
cases.push({
  name: 'a sample imports dlx-broker by its name',
  path: file('apps/some/src/user.ts', imports('dlx-broker/testing')),
  expected: [],
});

/** One run of oxlint over a house of snippets, under the real configuration. */
beforeAll(() => {
  house = mkdtempSync(join(tmpdir(), 'walls-'));
  copyFileSync(join(root, '.oxlintrc.json'), join(house, '.oxlintrc.json'));
  for (const [path, code] of snippets) {
    mkdirSync(dirname(join(house, path)), { recursive: true });
    writeFileSync(join(house, path), code);
  }
  found = new Map();
  for (const { filename, code } of lint(house)) {
    const path = relative(house, resolve(house, filename));
    found.set(path, [...(found.get(path) ?? []), code]);
  }
});
afterAll(() => rmSync(house, { recursive: true, force: true }));

interface Finding {
  readonly filename: string;
  readonly code: string;
}

function lint(cwd: string): readonly Finding[] {
  const oxlint = join(root, 'node_modules/oxlint/bin/oxlint');
  try {
    execFileSync(process.execPath, [oxlint, '--deny-warnings', '--format', 'json'], { cwd, encoding: 'utf8' });
  } catch (error) {
    return (JSON.parse((error as { stdout: string }).stdout) as { diagnostics: Finding[] }).diagnostics;
  }
  throw new Error('oxlint found nothing in a house full of violations');
}

it('the lint rules and the walk are those of the table', () => {
  execFileSync(process.execPath, [join(root, 'scripts/write-rooms.mjs'), '--check'], { cwd: root, encoding: 'utf8' });
});

describe('the walls hold:', () => {
  it.each(cases.map((one) => [one.name, one] as const))('%s', (_, { path, expected }) => {
    expect([...new Set(found.get(path))]).toEqual(expected);
  });
});
