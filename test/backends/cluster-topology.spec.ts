import { describe, expect, it } from 'vitest';
import type { Backend, BackendDelivery } from '../../libs/dlx-broker/src/backends/index.js';
import { planRetry, retryOrPark, WaitQueues } from '../../libs/dlx-broker/src/nest/retry/index.js';
import { clusterTopology, collectTopology, type Topology } from '../../libs/dlx-broker/src/backends/topology/index.js';
import { longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { type World, worldKinds } from './worlds.js';

const plan = planRetry(
  { attempts: 2, backoff: { type: 'fixed', delay: '1s' } },
  { queue: 'orders', origin: 'a test', waitQueueType: 'quorum' },
);

const work: Topology = {
  exchanges: [
    { name: 'orders.dlx', type: 'fanout', durable: true, autoDelete: false, internal: false, arguments: new Map() },
  ],
  queues: [
    {
      name: 'orders',
      durable: true,
      exclusive: false,
      autoDelete: false,
      arguments: new Map([['x-dead-letter-exchange', longstr('orders.dlx')]]),
    },
  ],
  bindings: [
    {
      source: 'orders.dlx',
      destination: 'orders.parked',
      destinationType: 'queue',
      routingKey: '',
      arguments: new Map(),
    },
  ],
};

const { topology, notes } = clusterTopology(collectTopology({ parts: [plan.topology, work] }));

const published = (backend: Backend, body: string): Promise<void> =>
  new Promise((resolve, reject) =>
    backend.publish(
      {
        exchange: '',
        routingKey: 'orders',
        properties: { deliveryMode: 2, messageId: body },
        body: Buffer.from(body),
        mandatory: true,
      },
      (failure) => (failure ? reject(failure) : resolve()),
    ),
  );

/** The next deliveries of a queue, until there are so many. */
const deliveriesOf = (backend: Backend, queue: string, count: number, settle: (delivery: BackendDelivery) => void) =>
  new Promise<string[]>((resolve) => {
    const seen: string[] = [];
    const consumption = backend.consume(queue, { prefetch: 10 }, (delivery) => {
      seen.push(String(delivery.message.body));
      settle(delivery);
      if (seen.length < count) return;
      setTimeout(() => consumption.close(), 50);
      resolve(seen);
    });
  });

for (const kind of worldKinds) {
  const reason = await kind.unavailable();
  if (reason !== undefined) console.warn(`SKIPPED: a topology for a cluster on ${kind.name}: ${reason}`);
  describe.skipIf(reason !== undefined)(`a topology for a cluster, on ${kind.name}`, () => {
    const within = async (work: (world: World) => Promise<void>): Promise<void> => {
      const world = await kind.open();
      try {
        await work(world);
      } finally {
        await world.close();
      }
    };

    it('rule M1: is accepted, and equal when it is declared again', { timeout: 30_000 }, () =>
      within(async ({ backend }) => {
        expect(notes).toEqual([]);
        const names = topology.queues.map(({ name }) => name);
        expect(names).toEqual(
          [1, 5, 15, 60, 300, 900, 3600, 21_600, 86_400]
            .map((seconds) => `wait.keep.${seconds}000`)
            .concat('orders.parked', 'orders'),
        );
        await backend.connect();
        for (let round = 0; round < 2; round += 1) expect(await backend.declare(topology)).toEqual(new Set());
        const rooms = new WaitQueues(backend, 'quorum');
        await Promise.all([rooms.wait(5_000), rooms.lot('orders.parked')]); // as the retries declare them
      }),
    );

    it('brings a failed message back after its wait, and then parks it', { timeout: 30_000 }, () =>
      within(async ({ backend }) => {
        await backend.connect();
        await backend.declare(topology);
        const rooms = new WaitQueues(backend, 'quorum');
        rooms.declared(plan.delays, [plan.parkingLot]);
        await published(backend, 'poison');
        const began = Date.now();
        const attempts = await deliveriesOf(backend, 'orders', 2, (delivery) => {
          retryOrPark(delivery, plan, { error: new Error('no'), headers: new Map() }, rooms);
        });
        expect(attempts).toEqual(['poison', 'poison']);
        expect(Date.now() - began).toBeGreaterThanOrEqual(990);
        expect(await deliveriesOf(backend, 'orders.parked', 1, (delivery) => delivery.ack())).toEqual(['poison']);
      }),
    );

    it('dead-letters what is rejected', { timeout: 30_000 }, () =>
      within(async ({ backend }) => {
        await backend.connect();
        await backend.declare(topology);
        await published(backend, 'bad');
        await deliveriesOf(backend, 'orders', 1, (delivery) => delivery.reject());
        expect(await deliveriesOf(backend, 'orders.parked', 1, (delivery) => delivery.ack())).toEqual(['bad']);
      }),
    );
  });
}
