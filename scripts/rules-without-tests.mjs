// Lists the rules of docs/internals/rules.md that no test cites, and fails if one of them is not excused below.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Rules that need no test of their own, and why. */
const excused = {
  B13: 'a reference to F9',
  U1: 'waits for the management API',
  U2: 'waits for the management API',
  U3: 'waits for the management API',
  V4: 'a fault of reading from disk that the store tests exclude by L1',
  W9: 'nothing changed',
  W14: 'nothing changed',
};

const rules = [...readFileSync('docs/internals/rules.md', 'utf8').matchAll(/^- \*\*([A-W]\d+)\*\* (.*)$/gm)].map(
  ([, id, title]) => ({ id, title }),
);

/** Every test file, and the cases of the contract suite with their known differences. */
function* testFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules' || entry.name === 'dist') continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* testFiles(path);
    else if (/\.(spec|test)\.ts$/.test(entry.name) || /\bcontract\/(cases\/|expected-differences)/.test(path))
      yield path;
  }
}

/** The numbers in `rule H6`, `rules F3, F4 and F12`, `rules B1 to B4`. */
function* citedIn(text) {
  for (const [citation] of text.matchAll(/\brules? [A-W]\d+(?:(?:, | and | or | to )[A-W]\d+)*/g)) {
    for (const [, first, last] of citation.matchAll(/([A-W]\d+)(?: to ([A-W]\d+))?/g)) {
      yield first;
      if (last === undefined) continue;
      for (let number = Number(first.slice(1)) + 1; number <= Number(last.slice(1)); number += 1)
        yield `${first[0]}${number}`;
    }
  }
}

const cited = new Set();
for (const folder of ['libs', 'apps', 'test'])
  for (const path of testFiles(folder)) for (const id of citedIn(readFileSync(path, 'utf8'))) cited.add(id);

const known = new Set(rules.map(({ id }) => id));
const unknown = [...cited].filter((id) => !known.has(id)).sort();
const untested = rules.filter(({ id }) => !cited.has(id));
const missing = untested.filter(({ id }) => excused[id] === undefined);

console.log(`${rules.length} rules, ${rules.length - untested.length} cited by tests`);
for (const { id } of untested) if (excused[id] !== undefined) console.log(`  excused ${id}: ${excused[id]}`);
for (const id of Object.keys(excused)) if (cited.has(id)) console.log(`  no longer needs its excuse: ${id}`);
for (const id of unknown) console.log(`  cited but not known: ${id}`);
for (const { id, title } of missing) console.log(`  WITHOUT A TEST ${id}: ${title}`);
process.exitCode = missing.length + unknown.length > 0 ? 1 : 0;
