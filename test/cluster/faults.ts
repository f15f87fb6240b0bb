import { setTimeout as wait } from 'node:timers/promises';
import type { Running } from './application.js';
import type { ClusterNodes } from './nodes.js';

/** What is done to the nodes, and undone. */
export interface Fault {
  readonly name: string;
  /** @param round counts from 0 @returns when the nodes are as before */
  run(cluster: ClusterNodes, running: Running, round: number): Promise<void>;
}

/** How long a node is paused, cut off or without memory, in milliseconds. */
const duration = 25_000;

const faults: Readonly<Record<string, Fault>> = {
  leader: {
    name: 'leader killed',
    async run(cluster, _, round) {
      const leader = await cluster.leaderOf(round % 2 === 0 ? 'orders' : 'wait.keep.1000');
      await cluster.kill(leader);
      await wait(3_000);
      await cluster.up(leader);
    },
  },
  all: {
    name: 'all killed',
    async run(cluster) {
      await cluster.kill(1, 2, 3);
      await cluster.up(1, 2, 3);
    },
  },
  pause: {
    name: 'leader paused',
    async run(cluster) {
      const leader = await cluster.leaderOf('orders');
      cluster.pause(leader);
      await wait(duration);
      cluster.resume(leader);
      if (await cluster.rejoin(leader)) console.info('the paused leader had to be restarted');
    },
  },
  cut: {
    name: 'leader cut off',
    async run(cluster) {
      const leader = await cluster.leaderOf('orders');
      await cluster.cut(leader, 'all');
      await wait(duration);
      await cluster.mend(leader, 'all');
      if (await cluster.rejoin(leader)) console.info('the leader that was cut off had to be restarted');
    },
  },
  minority: {
    name: 'node of the application cut off from the others',
    async run(cluster) {
      const node = await cluster.nodeOfApplication();
      await cluster.cut(node, 'nodes');
      await wait(duration * 2);
      await cluster.mend(node, 'nodes');
      if (await cluster.rejoin(node)) console.info('the node that was cut off had to be restarted');
    },
  },
  alarm: {
    name: 'memory alarm',
    async run(cluster, { blocked }, round) {
      const before = blocked();
      const node = 1 + (round % 3);
      await cluster.alarm(node);
      await wait(duration / 2);
      await cluster.endAlarm(node);
      if (blocked() === before) throw new Error('the alarm did not block the connection');
    },
  },
  upgrade: {
    name: 'upgrade',
    async run(cluster) {
      for (const node of [1, 2, 3]) {
        await cluster.shutDown(node);
        await cluster.up(node);
      }
    },
  },
};

const everything = 'leader*10,all*2,pause,cut,minority,alarm,upgrade';

/**
 * The faults of a run, one after the other, each with its round.
 * @param text such as `leader*10,pause`; default all kinds
 */
export function faultsOf(text = everything): readonly (readonly [Fault, number])[] {
  return text.split(',').flatMap((part) => {
    const [name = '', times = '1'] = part.split('*');
    const fault = faults[name];
    const count = Number(times);
    if (fault === undefined || !Number.isSafeInteger(count) || count < 1) {
      throw new Error(`CLUSTER_FAULTS is ${everything} or a part of it, not '${part}'`);
    }
    return Array.from({ length: count }, (_, round) => [fault, round] as const);
  });
}
