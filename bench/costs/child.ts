import { memoryInUse } from '../workload.js';
import type { Cost } from './scene.js';
import { scenes } from './scenes.js';

// One run of one scene, in a process of its own: `node child.js THING COUNT` prints its cost as JSON.
const [thing, text] = process.argv.slice(2);
const scene = scenes.find((one) => one.thing === thing);
if (scene === undefined) throw new Error(`there is no '${thing}'`);
const count = Number(text);

/** Microseconds of processor time of each. */
async function timed(work: () => Promise<void> | void): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

// The first one warms up: afterwards its code is compiled, and no memory of code is counted.
const first = await scene.open();
await first.make(Math.min(count, 2_000));
await first.remove();
await first.close?.();
const { make, remove, close } = await scene.open();
const before = memoryInUse();
const made = await timed(() => make(count));
const bytes = (memoryInUse() - before) / count;
const removed = await timed(() => remove());
await close?.();
const cost: Cost = { count, bytes, made, removed };
process.stdout.write(`${JSON.stringify(cost)}\n`);
process.exit(0);
