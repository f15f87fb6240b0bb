import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import amqplib from 'amqplib';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type Child, isBuilt, kill, startScript } from '../served.js';

const folder = mkdtempSync(join(tmpdir(), 'nest-'));
const running: Child[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) await kill(child);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Milliseconds, as the application has it. */
const delay = 2_000;
const jobs = 3;

interface Said {
  readonly time: number;
  readonly ready?: boolean;
  readonly port?: number;
  readonly id?: number;
  readonly attempt?: number;
}

/** An application that says what its handler is asked to do. */
class Application {
  readonly said: Said[] = [];
  readonly #child: Child;

  constructor(directory: string, wanted = 0) {
    this.#child = startScript('processes/retry-app.mjs', directory, String(wanted));
    running.push(this.#child);
    let rest = '';
    this.#child.process.stdout?.on('data', (bytes: Buffer) => {
      const lines = (rest + bytes.toString()).split('\n');
      rest = lines.pop() as string;
      this.said.push(...lines.map((line) => JSON.parse(line) as Said));
    });
  }

  /** Waits until so many attempts were made. */
  async attempts(count: number): Promise<Said[]> {
    for (;;) {
      const attempts = this.said.filter(({ attempt }) => attempt !== undefined);
      if (attempts.length >= count) return attempts;
      await setTimeout(5);
    }
  }

  async port(): Promise<number> {
    for (;;) {
      const ready = this.said.find((said) => said.ready);
      if (ready !== undefined) return ready.port as number;
      await setTimeout(5);
    }
  }

  /** @returns when */
  async kill(): Promise<number> {
    const time = Date.now();
    await kill(this.#child);
    return time;
  }
}

describe.skipIf(!isBuilt && process.env['CI'] === undefined)(
  'kill -9 of a Nest application that keeps its queues',
  () => {
    it('leaves attempts, waiting delays and parked messages as they were', { timeout: 60_000 }, async () => {
      const directory = mkdtempSync(join(folder, 'data-'));
      let application = new Application(directory, jobs);
      let before = await application.attempts(jobs);
      for (const attempt of [2, 3]) {
        // Long enough for the move to be on the disk, short enough for the wait to be under way.
        await setTimeout(delay / 2);
        const killed = await application.kill();
        application = new Application(directory);
        const attempts = await application.attempts(jobs);
        await application.port();
        const begun = (application.said.find(({ ready }) => ready) as Said).time;
        for (const { id, attempt: number, time } of attempts) {
          expect(number, `job ${id}`).toBe(attempt);
          const last = before.find((said) => said.id === id) as Said;
          // Not before its time; and the wait went on while no process ran, and did not begin again.
          expect(time - last.time).toBeGreaterThanOrEqual(delay - 20);
          expect(time).toBeLessThan(Math.max(killed + delay, begun + delay / 2));
        }
        expect(attempts.map(({ id }) => id).sort()).toEqual(before.map(({ id }) => id).sort());
        before = attempts;
      }
      await setTimeout(delay / 2);
      await application.kill();
      const port = await new Application(directory).port();
      const connection = await amqplib.connect(`amqp://127.0.0.1:${port}`);
      const channel = await connection.createChannel();
      const parked: number[] = [];
      for (;;) {
        const message = await channel.get('jobs.parked', { noAck: true });
        if (message === false) break;
        parked.push((JSON.parse(message.content.toString()) as { id: number }).id);
        expect(message.properties.headers).toMatchObject({ 'dlx-attempt': 3, 'dlx-error-message': 'not yet' });
      }
      expect(parked.sort()).toEqual(Array.from({ length: jobs }, (_, index) => index + 1));
      await connection.close();
    });
  },
);
