import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Account } from './account.js';
import {
  controlDelay,
  isPoison,
  mostOpen,
  publisher,
  publishWaiting,
  type Running,
  safe,
  unsafe,
} from './application.js';
import { faultsOf } from './faults.js';
import { whyNoCluster } from './installation.js';
import { ClusterNodes } from './nodes.js';

const faults = faultsOf(process.env['CLUSTER_FAULTS']);
const rate = Number(process.env['CLUSTER_RATE'] ?? 200);
const reason = whyNoCluster();
if (reason !== undefined) console.warn(`SKIPPED, NOTHING WAS TESTED: ${reason}`);

/** Milliseconds without a confirm when one leader is killed. A machine of CI may be slow. */
const longestGap = process.env['CI'] === undefined ? 3_000 : 10_000;

/** Milliseconds from the moment at which all nodes are back to the next confirm. */
const longestRecovery = 10_000;

let cluster: ClusterNodes;
beforeAll(async () => void (reason === undefined && (cluster = await ClusterNodes.start())), 180_000);
afterAll(async () => void (reason === undefined && (await cluster?.stop())), 60_000);

/** Waits until no message is missing but so many, or nothing has happened for so many milliseconds. */
async function drained({ account }: Running, timeout: number, expected: () => number): Promise<void> {
  for (let [quiet, before] = [0, -1]; quiet < timeout && account.missing.length > expected(); quiet += 200) {
    await wait(200);
    if (account.handled.size !== before) quiet = 0;
    before = account.handled.size;
  }
}

/** Waits for the next confirm. @returns how long that took, in milliseconds */
async function recovered({ confirmed }: Account): Promise<number> {
  const [before, begun] = [confirmed.size, performance.now()];
  while (confirmed.size === before && performance.now() - begun < longestRecovery) await wait(10);
  return performance.now() - begun;
}

describe.skipIf(reason !== undefined)('three nodes of RabbitMQ', () => {
  it('lose nothing, whatever happens to the nodes', { timeout: 90_000 * (faults.length + 2) }, async () => {
    const running = await safe(await cluster.urls());
    const { account } = running;
    const names = faults.map(([{ name }]) => name).join(', ');
    const version = await cluster.version();
    console.info(`nodes of RabbitMQ ${version} in ${cluster.network.name}: ${names}`);
    const publishing = publisher(running, 'orders', rate);
    await wait(3_000);
    const slow: string[] = [];
    for (const [fault, round] of faults) {
      const [confirmed, twice, begun] = [account.confirmed.size, account.duplicates, performance.now()];
      account.takeGap();
      account.phase = fault.name;
      await fault.run(cluster, running, round);
      const recovery = await recovered(account);
      if (recovery >= longestRecovery) slow.push(fault.name);
      await wait(3_000);
      const seconds = ((performance.now() - begun) / 1_000).toFixed(0);
      console.info(
        `${fault.name}: ${seconds} s, ${account.confirmed.size - confirmed} confirmed, ${account.duplicates - twice} twice, ` +
          `${(account.takeGap() / 1_000).toFixed(1)} s without a confirm, ` +
          `${(recovery / 1_000).toFixed(1)} s from the return of all nodes to the next confirm`,
      );
    }
    account.phase = 'end';
    const published = await publishing.stop();
    const poison = [...account.confirmed].filter(isPoison).length;
    await drained(running, 30_000, () => poison);
    for (let left = 30_000; left > 0 && (await running.parked()) < poison; left -= 200) await wait(200);
    const parked = await running.parked();
    const redriven = await running.redrive();
    await drained(running, 30_000, () => 0);
    console.info(`${published} published, ${parked} parked, ${redriven} redriven, ${account}`);
    await running.app.close();

    expect(account.missing).toEqual([]);
    expect(slow).toEqual([]);
    expect(parked).toBeGreaterThanOrEqual(poison);
    expect(parked - poison).toBeLessThanOrEqual(account.confirmed.size * 0.005);
    expect(account.confirmed.size).toBeGreaterThan(rate);
    // A node of 4.3 that goes on takes what was sent to it while it stood still, and another node has that already.
    const pauses = version.startsWith('3.') ? 0 : faults.filter(([{ name }]) => name === 'leader paused').length;
    expect(account.duplicates).toBeLessThan(account.confirmed.size * 0.005 + 1 + pauses * mostOpen);
    expect(account.unflagged).toEqual([]);
    expect(account.longestGaps.get('leader killed') ?? 0).toBeLessThan(longestGap);
  });

  it('lose what waits on one node and is not persistent: the test can fail', { timeout: 180_000 }, async () => {
    const running = await unsafe(await cluster.urls());
    const { account } = running;
    await publishWaiting(running, 'control', 200);
    const node = await cluster.leaderOf(`dlx.events.wait.${controlDelay}`);
    await cluster.kill(node);
    await cluster.up(node);
    await drained(running, controlDelay + 5_000, () => 0);
    console.info(`control: ${account}`);
    await running.app.close();
    expect(account.missing).toEqual(Array.from({ length: 100 }, (_, index) => index * 2 + 1));
  });
});
