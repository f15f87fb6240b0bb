import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type Child, isBuilt, kill } from '../served.js';
import { startUnprivileged } from '../unprivileged.js';

const fixture = join(import.meta.dirname, '../fixtures/format-1');
const folder = mkdtempSync(join(tmpdir(), 'closed-'));
const running: Child[] = [];
chmodSync(folder, 0o755);
let count = 0;
afterEach(async () => {
  for (const child of running.splice(0)) await kill(child);
});
afterAll(() => {
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o755);
  rmSync(folder, { recursive: true, force: true });
});

/** A data directory with everything in it, and these rights. */
function copied(mode: number, fileMode = 0o644): string {
  const directory = join(folder, `copy-${++count}`);
  cpSync(fixture, directory, { recursive: true });
  for (const name of readdirSync(directory)) chmodSync(join(directory, name), fileMode);
  chmodSync(directory, mode);
  return directory;
}

function below(mode: number): string {
  const parent = join(folder, `parent-${++count}`);
  mkdirSync(parent);
  chmodSync(parent, mode);
  return join(parent, 'data');
}

function file(): string {
  const path = join(folder, `file-${++count}`);
  writeFileSync(path, 'dear diary');
  return path;
}

const command = 'libs/dlx-broker/bin/dlx-broker.js';

/** Every way to a data directory. */
const ways = {
  serve: (directory: string) =>
    startUnprivileged(command, 'serve', '--amqp', '127.0.0.1:0', '--log-level', 'error', '--data', directory),
  check: (directory: string) => startUnprivileged(command, 'data', 'check', directory),
  export: (directory: string) => startUnprivileged(command, 'data', 'export', directory),
  application: (directory: string) => startUnprivileged('test/durability/processes/data-app.mjs', directory),
};
type Way = keyof typeof ways;

async function ended(way: Way, directory: string) {
  const child = ways[way](directory);
  running.push(child);
  // One that starts where it should not would never end.
  void child.ready.then((line) => /ready/.test(line) && child.process.kill('SIGKILL'));
  return child.ended;
}

/** What is wrong, in one line. */
function lineOf(way: Way, { output, errors }: { readonly output: string; readonly errors: string }): string {
  if (way !== 'application') {
    expect(output).toBe('');
    const [line, ...rest] = errors.trim().split('\n');
    expect(rest).toEqual([]);
    expect(line).toMatch(/^dlx-broker: /);
    return line as string;
  }
  const { name, message } = JSON.parse(output) as { name: string; message: string };
  expect(name).toBe('DlxConfigurationError');
  expect(message.split('\n')).toHaveLength(1);
  expect(message).toMatch(/^option 'dataDir' of embedded\(\): /);
  return message;
}

const everyWay = ['serve', 'application', 'check', 'export'] as const;
const toWrite = ['serve', 'application'] as const;
const toRead = ['check', 'export'] as const;
const unchanged = /Nothing was (changed|written|read or written)|nothing in it was touched/;

const cases: readonly [string, readonly Way[], () => string, RegExp][] = [
  ['that cannot be written', toWrite, () => copied(0o555), /EACCES.*cannot be written|cannot be written.*EACCES/],
  ['that cannot be looked into', everyWay, () => copied(0o000), /EACCES: permission denied/],
  ['whose files cannot be read', everyWay, () => copied(0o777, 0o000), /EACCES: permission denied/],
  ['that cannot be made', toWrite, () => below(0o555), /EACCES: permission denied, mkdir/],
  ['below one that cannot be entered', everyWay, () => below(0o000), /EACCES: permission denied/],
  ['that is a file', everyWay, file, /file/],
  ['that is not there', toRead, () => below(0o755), /is not there.*check the path/],
  ['below one that is not there', toRead, () => join(below(0o777), 'deeper'), /is not there.*check the path/],
  ['below one that is not there', toWrite, () => join(below(0o777), 'deeper'), /ENOENT: no such file or directory/],
];

describe.skipIf(!isBuilt && process.env['CI'] === undefined)('a directory', () => {
  it.each(cases.flatMap(([what, by, make, text]) => by.map((way) => [what, way, make, text] as const)))(
    '%s is refused to %s in one line, with exit code 2',
    async (_, way, make, text) => {
      const end = await ended(way, make());
      const line = lineOf(way, end);
      expect(line).toMatch(text);
      expect(line).toMatch(unchanged);
      expect(end.code).toBe(2);
    },
  );

  it('that can only be read is checked and exported all the same, and is as it was', async () => {
    const directory = copied(0o555, 0o444);
    const check = await ended('check', directory);
    expect(check).toMatchObject({ code: 0, errors: '' });
    expect(check.output).toContain('everything is as it was written');
    const { code, output, errors } = await ended('export', directory);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(output.trim().split('\n')).toHaveLength(6);
    expect(readdirSync(directory)).toEqual(readdirSync(fixture));
    const [name] = readdirSync(fixture) as [string];
    expect(readFileSync(join(directory, name)).equals(readFileSync(join(fixture, name)))).toBe(true);
  });

  it('that vanishes under an application fails its next emits, is logged once, and the application ends in peace', async () => {
    const directory = below(0o777);
    const child = ways.application(directory);
    running.push(child);
    expect(await child.ready).toContain('ready');
    rmSync(directory, { recursive: true });
    const { code, output, errors } = await child.ended;
    const [, failure, closed] = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string; message: string });
    expect(failure?.name).toBe('RefusedError');
    expect(failure?.message).toMatch(
      /cannot keep the message \(nack\): ENOENT.*the data directory is gone\. All that was/,
    );
    expect(closed).toEqual({ closed: true });
    expect(errors.match(/the data directory is gone/g)).toHaveLength(1);
    expect(errors).toMatch(/ERROR \[DlxBroker\] ENOENT/);
    expect(code).toBe(0);
  });
});
