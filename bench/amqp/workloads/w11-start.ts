import { publish } from '../frames.js';
import type { Result } from '../measure.js';
import { bodyOf, Scene } from '../scene.js';
import { startOurs } from '../servers.js';

/** Milliseconds from the start of `dlx-broker serve` to the first message that comes out of it. */
export async function w11(): Promise<Result> {
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
  return { value, extra: { 'ready ms': ready } };
}
