import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, isPoison, publisher, type Running, safe, unsafe } from './application.js';
import { ClusterNodes, whyNoCluster } from './nodes.js';

const kills = Number(process.env['CLUSTER_KILLS'] ?? 1);
const killsOfAll = Number(process.env['CLUSTER_KILLS_OF_ALL'] ?? 0);
const pauses = Number(process.env['CLUSTER_PAUSES'] ?? 0);
const rate = Number(process.env['CLUSTER_RATE'] ?? 200);
const reason = whyNoCluster();
if (reason !== undefined) console.warn(`SKIPPED, NOTHING WAS TESTED: ${reason}`);

let cluster: ClusterNodes;
beforeAll(async () => void (reason === undefined && (cluster = await ClusterNodes.start())), 180_000);
afterAll(async () => void (reason === undefined && (await cluster.stop())), 60_000);

/** Waits until no message is missing but so many, or nothing has happened for so many milliseconds. */
async function drained({ account }: Running, timeout: number, expected: () => number): Promise<void> {
  for (let [quiet, before] = [0, -1]; quiet < timeout && account.missing.length > expected(); quiet += 200) {
    await wait(200);
    if (account.handled.size !== before) quiet = 0;
    before = account.handled.size;
  }
}

const gaps = ({ longestGaps }: Account): string =>
  [...longestGaps].map(([phase, gap]) => `${(gap / 1_000).toFixed(1)} s (${phase})`).join(', ');

const row = (name: string, { account }: Running, published: number, parked: number): void =>
  console.info(
    `${name}: ${published} published, ${account.confirmed.size} confirmed, ${account.failed.size} failed, ` +
      `${parked} parked and redriven, ${account.missing.length} lost, ${account.duplicates} twice, ` +
      `longest gap without a confirm ${gaps(account)}`,
  );

/** Handles everything, at last also what was parked. @returns how many messages were parked */
async function finished(name: string, running: Running, published: number, timeout: number): Promise<number> {
  const { account, app } = running;
  const poison = [...account.confirmed].filter(isPoison).length;
  await drained(running, timeout, () => poison);
  for (let left = timeout; left > 0 && (await running.parked()) < poison; left -= 200) await wait(200);
  const parked = await running.parked();
  await running.redrive();
  await drained(running, timeout, () => 0);
  row(name, running, published, parked);
  await app.close();
  return parked;
}

describe.skipIf(reason !== undefined)('three nodes of RabbitMQ', () => {
  it(
    `lose nothing when leaders are killed (${kills})`,
    { timeout: 60_000 * (kills + killsOfAll + pauses + 2) },
    async () => {
      const running = await safe(cluster.urls);
      const publishing = publisher(running, 'orders', rate);
      await wait(3_000);
      for (let round = 0; round < kills; round += 1) {
        const leader = await cluster.leaderOf(round % 2 === 0 ? 'orders' : 'wait.keep.1000');
        running.account.phase = 'one killed';
        await cluster.kill(leader);
        await wait(3_000);
        await cluster.up(leader);
        await wait(3_000);
      }
      for (let round = 0; round < killsOfAll; round += 1) {
        running.account.phase = 'all killed';
        await cluster.kill(1, 2, 3);
        await cluster.up(1, 2, 3);
        await wait(3_000);
      }
      for (let round = 0; round < pauses; round += 1) {
        const leader = await cluster.leaderOf('orders');
        running.account.phase = 'one paused';
        cluster.pause(leader);
        await wait(25_000);
        cluster.resume(leader);
        await wait(5_000);
      }
      const published = await publishing.stop();
      const { account } = running;
      const poison = [...account.confirmed].filter(isPoison).length;
      const parked = await finished('safe', running, published, 30_000);
      expect(account.missing).toEqual([]);
      expect(parked).toBeGreaterThanOrEqual(poison);
      expect(parked - poison).toBeLessThanOrEqual(account.confirmed.size * 0.005);
      expect(account.confirmed.size).toBeGreaterThan(rate);
      expect(account.duplicates).toBeLessThan(account.confirmed.size * 0.005 + 1);
    },
  );

  it('lose messages that dead-letter at most once: the test can fail', { timeout: 300_000 }, async () => {
    let lost = 0;
    for (let attempt = 0; attempt < 3 && lost === 0; attempt += 1) {
      const running = await unsafe(cluster.urls);
      const publishing = publisher(running, 'control', rate * 3);
      await wait(3_000);
      const leader = await cluster.leaderOf('control');
      await cluster.kill(leader);
      await wait(1_000);
      await cluster.up(leader);
      const published = await publishing.stop();
      await finished('control', running, published, 5_000);
      lost = running.account.missing.length;
    }
    expect(lost).toBeGreaterThan(0);
  });
});
