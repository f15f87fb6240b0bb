import { setTimeout as wait } from 'node:timers/promises';
import { type INestApplicationContext, Injectable, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DlxBrokerModule, DlxClient, DlxContext, Prefetch, QueueArguments, rabbitmq } from 'dlx-broker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Account } from './account.js';
import { whyNoCluster } from './installation.js';
import { ClusterNodes } from './nodes.js';
import { buildReplica, Replicas } from './replicas.js';

const seconds = Number(process.env['CLUSTER_REPLICAS'] ?? 300);
const rate = Number(process.env['CLUSTER_RATE'] ?? 100);
/** Events that a replica has in hand at most, as replica.ts says. */
const inHand = 10;
const reason = whyNoCluster();
if (reason !== undefined) console.warn(`SKIPPED, NOTHING WAS TESTED: ${reason}`);

let cluster: ClusterNodes;
beforeAll(async () => {
  if (reason !== undefined) return;
  await buildReplica();
  cluster = await ClusterNodes.start();
}, 180_000);
afterAll(async () => void (reason === undefined && (await cluster?.stop())), 60_000);

/** An application that asks, and takes the answers. */
async function asker(urls: readonly string[], account: Account): Promise<INestApplicationContext> {
  @Injectable()
  class Answers {
    @Consume({ queue: 'round.answers', routingKey: 'round.answered' })
    @QueueArguments({ 'x-queue-type': 'quorum' })
    @Prefetch(100)
    answered(@Payload() { number }: { number: number }, @Ctx() { properties }: DlxContext): void {
      account.handle(number, properties.messageId);
    }
  }
  const imports = [DlxBrokerModule.forRoot({ broker: rabbitmq({ urls }), clusterTopology: true })];
  const module: { module: Type; imports: typeof imports; providers: Type[] } = {
    module: class {},
    imports,
    providers: [Answers],
  };
  return NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
}

/** What became of requests. */
class Requests {
  sent = 0;
  answered = 0;
  readonly failures = new Map<string, number>();

  get open(): number {
    return this.sent - this.answered - [...this.failures.values()].reduce((sum, count) => sum + count, 0);
  }

  ask(client: DlxClient): void {
    const number = this.sent++;
    client.send<number>('round.double', { number }).subscribe({
      next: (answer) => {
        if (answer === number * 2) this.answered++;
      },
      error: ({ name }: Error) => void this.failures.set(name, (this.failures.get(name) ?? 0) + 1),
    });
  }
}

describe.skipIf(reason !== undefined)('two replicas on three nodes of RabbitMQ', () => {
  it.each([
    ['are killed or stopped', seconds, 0.5],
    ['are stopped', seconds / 5, 1],
  ] as const)(
    'replicas %s at random for %i s: nothing is lost, and only a kill doubles',
    { timeout: 180_000 + seconds * 1_000 },
    async (_, length, stops) => {
      const urls = await cluster.urls();
      const [account, requests, replicas] = [new Account(), new Requests(), new Replicas(urls)];
      const app = await asker(urls, account);
      const client = app.get(DlxClient);
      await Promise.all([replicas.start(), replicas.start()]);
      let number = 0;
      const load = setInterval(() => {
        for (let count = 0; count < rate / 50; count++) {
          const mine = number++;
          account.published();
          client.emit('round.asked', { number: mine }).subscribe({
            complete: () => account.confirm(mine),
            error: () => account.failed.add(mine),
          });
        }
        requests.ask(client);
      }, 20);
      const end = performance.now() + length * 1_000;
      while (performance.now() < end) {
        await wait(500 + Math.random() * 2_500);
        await replicas.end(Math.random() < stops ? 'SIGTERM' : 'SIGKILL');
        // At times both are down: the next end may come before this one is back.
        const starting = wait(Math.random() * 2_000).then(() => replicas.start());
        if (replicas.count < 1) await starting;
        else starting.catch(() => undefined); // it is among the faults
      }
      clearInterval(load);
      while (replicas.count < 2) await replicas.start();
      for (let left = 60_000; left > 0 && (account.missing.length > 0 || requests.open > 0); left -= 200)
        await wait(200);
      const { started, stopped, killed, faults } = replicas;
      const refused = [...requests.failures].map(([name, count]) => `${count} ${name}`).join(', ') || 'none';
      console.info(
        `${length} s: ${started} replicas started, ${stopped} stopped, ${killed} killed; events: ${account}; ` +
          `requests: ${requests.sent} sent, ${requests.answered} answered, failed with an error: ${refused}, ${requests.open} without an outcome`,
      );
      await replicas.close();
      await app.close();
      expect(account.missing).toEqual([]);
      expect(account.unflagged).toEqual([]);
      expect(account.duplicates).toBeLessThanOrEqual(killed * inHand); // what a killed replica had in hand comes again
      if (length >= 300) expect(account.duplicates / number).toBeLessThan(0.005);
      expect(requests.open).toBe(0);
      expect(faults).toEqual([]);
    },
  );
});
