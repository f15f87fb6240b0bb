import { setTimeout as wait } from 'node:timers/promises';
import type { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { serve } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { TurnMeter } from './meter.js';
import { operations } from './operations.js';
import { crowd, doomed, furnish, heavy, orders, refill, type Size } from './scene.js';

/*
 * The measured process: a broker with many objects. Its parent says what to prepare and when to measure.
 */
const size = JSON.parse(process.argv[2] ?? '{}') as Size;
const directory = process.argv[3];
const served = await serve({
  amqp: { host: '127.0.0.1', port: 0 },
  http: { port: 0, edits: true },
  ...(directory !== undefined && { data: { directory, durability: 'os' as const } }),
  log: (error) => console.error(error),
});
const meter = new TurnMeter();

const preparations: Readonly<Record<string, (broker: Broker, size: Size) => void>> = {
  furnish,
  heavy,
  refill,
  doomed,
  crowd,
  orders,
};

/** The work that a command left for later turns is done when ten turns in a row had nothing to do. */
const rest = async (): Promise<void> => {
  let calm = 0;
  while (calm < 10) {
    const before = performance.now();
    await wait(2);
    calm = performance.now() - before < 8 ? calm + 1 : 0;
  }
};

const answers: Readonly<Record<string, (what: string) => Promise<unknown>>> = {
  async prepare(what) {
    preparations[what]?.(served.broker, size);
    await rest();
    globalThis.gc?.();
  },
  async begin() {
    meter.begin();
  },
  async end() {
    await rest();
    return meter.end();
  },
  async operate(what) {
    const run = operations[what]?.(served.broker, size);
    await rest();
    globalThis.gc?.();
    meter.begin();
    await wait(5);
    run?.();
    await wait(what.includes('expire') || what.includes('due') || what.includes('nothing') ? 6_000 : 50);
    await rest();
    return meter.end();
  },
};

process.on('message', ([what, which]: [string, string]) => {
  void answers[what]?.(which).then((answer) => process.send?.([answer]));
});
// The parent has ended, and only the parent ends this process.
process.on('disconnect', () => process.exit(1));
process.send?.({ port: served.http?.port, operations: Object.keys(operations) });
