import { execFileSync } from 'node:child_process';
import { publish } from '../frames.js';
import type { Result } from '../measure.js';
import { bodyOf, Scene } from '../scene.js';
import { startOurs } from '../servers.js';

/** Milliseconds of a Node process without a program, for comparison. */
function bareNode(): number {
  const start = performance.now();
  execFileSync(process.execPath, ['-e', '']);
  return performance.now() - start;
}

/** Milliseconds from the start of `dlx-broker serve` to its first delivery. */
export async function w11(): Promise<Result> {
  const bare = bareNode();
  const start = performance.now();
  const server = await startOurs([], false);
  const ready = performance.now() - start;
  const scene = new Scene(server.target);
  const client = await scene.client();
  await scene.queue('w11');
  const arrived = new Promise<number>((resolve) => {
    client.onDelivered = (_, to) => {
      client.ack(to);
      resolve(performance.now() - start);
    };
  });
  await client.consume('w11');
  client.write(publish('', 'w11', bodyOf(16)));
  const value = await arrived;
  await scene.close();
  await server.close();
  return { value, extra: { 'ready ms': ready, 'node alone ms': bare } };
}
