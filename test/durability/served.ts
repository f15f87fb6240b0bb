import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const library = resolve(import.meta.dirname, '../../libs/dlx-broker');
export const command = join(library, 'bin/dlx-broker.js');

/** The command, which needs the built library. */
export const isBuilt = existsSync(join(library, 'dist/cli/main.js'));

/** A process of the command. */
export interface Child {
  readonly process: ChildProcess;
  /** Its first line on standard output; all of its output if it ended before. */
  readonly ready: Promise<string>;
  readonly ended: Promise<{ readonly code: number | null; readonly output: string; readonly errors: string }>;
}

export const start = (...args: string[]): Child => follow(spawn(process.execPath, [command, ...args], { stdio }));
export const startScript = (script: string, ...args: string[]): Child =>
  follow(spawn(process.execPath, [join(import.meta.dirname, script), ...args], { stdio }));

/** For example another user. */
export const startAs = (options: SpawnOptions, script: string, ...args: string[]): Child =>
  follow(spawn(process.execPath, [script, ...args], { ...options, stdio }));

const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];

function follow(child: ChildProcess): Child {
  let output = '';
  let errors = '';
  child.stderr?.on('data', (bytes: Buffer) => (errors += bytes.toString()));
  const ended = new Promise<{ code: number | null; output: string; errors: string }>((done) =>
    child.once('close', (code) => done({ code, output, errors })),
  );
  const ready = new Promise<string>((done) => {
    child.stdout?.on('data', (bytes: Buffer) => {
      output += bytes.toString();
      if (output.includes('\n')) done(output);
    });
    child.once('close', () => done(output + errors));
  });
  return { process: child, ready, ended };
}

/** Kills a process with SIGKILL, and waits for its end. */
export async function kill({ process: child, ended }: Child): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

/** `HOST:PORT` of a server's ready line. */
export function addressIn(line: string): string {
  const address = /amqp=(\S+)/.exec(line)?.[1];
  if (address === undefined) throw new TypeError(`it did not start: ${line}`);
  return address;
}
