import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { livenessOf, ownIdentity } from './lock-file.js';

it('an existing process is alive', () => {
  expect(livenessOf(ownIdentity(), ownIdentity())).toBe('alive');
});

it.runIf(existsSync('/proc/self/stat'))('a killed process whose parent has not waited for it is dead', async () => {
  // What the shell becomes never asks about the child it was given.
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [told] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(told.toString());
  const fields = (of: number) => readFileSync(`/proc/${of}/stat`, 'utf8').split(') ')[1]!.split(' ');
  const mark = { ...ownIdentity(), pid, started: fields(pid)[19]! };
  await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8').trim()).toBe('sleep');
  expect(livenessOf(mark, ownIdentity())).toBe('alive');

  process.kill(pid, 'SIGKILL');
  await expect.poll(() => fields(pid)[0]).toBe('Z');

  expect(livenessOf(mark, ownIdentity())).toBe('dead');
});
