import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownFiles } from './programs.js';

/** Milliseconds. */
export interface Times {
  readonly wall: number;
  /** Of the process and its threads, user and system. */
  readonly processor: number;
}

/** The folder in which imports of a program are resolved. */
const cwd = fileURLToPath(new URL('.', import.meta.url));

const evaluated = (program: string): string =>
  execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd, encoding: 'utf8' });

const writeProcessorTime = `process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  process.stdout.write(String((user + system) / 1000));
});\n`;

/** A whole process, from its start to its end. */
export function wholeProcess(program: string): Times {
  const began = performance.now();
  const processor = Number(evaluated(writeProcessorTime + program));
  return { wall: performance.now() - began, processor };
}

const library = fileURLToPath(new URL('.', import.meta.resolve('dlx-broker')));

/** What the files import that an application reads at its start: packages, and modules of Node. */
export function packagesOfStart(): readonly string[] {
  const found = new Set<string>();
  const seen = new Set<string>();
  const read = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/^(?:import|export) .*?["']([^"'\n]+)["'];$/gm)) {
      if (name.startsWith('.')) read(join(file, '..', name));
      else found.add(name);
    }
  };
  read(join(library, 'index.js'));
  if (found.size === 0 || readdirSync(library).length === 0) throw new Error('build the package first');
  return [...found];
}

/** The import of the package's own files. @param packages what they import, see {@link packagesOfStart} */
export const ownImport = (packages: readonly string[]): Times => JSON.parse(evaluated(ownFiles(packages))) as Times;

/** `dlx-broker serve`, from the start of the process until its ready line. */
export async function serveReady(flags: readonly string[]): Promise<Times> {
  const command = join(library, '../bin/dlx-broker.js');
  const atReady = `
    const write = process.stdout.write;
    process.stdout.write = function (text, ...rest) {
      const { user, system } = process.cpuUsage();
      return write.call(this, String((user + system) / 1000) + ' ' + text, ...rest);
    };`;
  const began = performance.now();
  const preload = `data:text/javascript,${encodeURIComponent(atReady)}`;
  const args = ['--import', preload, command, 'serve', '--amqp', '127.0.0.1:0', '--log-level', 'error', ...flags];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const wall = performance.now() - began;
  child.kill('SIGTERM');
  await once(child, 'exit');
  return { wall, processor: Number.parseFloat(line.toString()) };
}
