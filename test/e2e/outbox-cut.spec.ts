import { Injectable, type INestApplicationContext, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';
import { Consume, customBackend, DlxBroker, DlxBrokerModule, DlxClient, Idempotent, Outbox } from 'dlx-broker';
import { expect, it } from 'vitest';
import type { Backend } from '../../libs/dlx-broker/src/backends/index.js';
import { type Link, LinkedServer, settled } from '../harnesses/amqp-link.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { linkedBackend } from '../harnesses/linked-backend.js';

const ends = endsAfterEach();

/** Class 60, method 80. */
const basicAck = Buffer.from([0, 60, 0, 80]);

/** A server whose first connection is cut when the client would ack a message. */
class CuttingServer extends LinkedServer {
  readonly links: Link[] = [];
  cuts = 0;

  override link(): Link {
    const link = super.link();
    this.links.push(link);
    const write = link.write.bind(link);
    link.write = (bytes, done) => {
      if (this.cuts > 0 || !Buffer.from(bytes).includes(basicAck)) return write(bytes, done);
      this.cuts++;
      link.cut(new Error('cut'));
      done?.();
    };
    return link;
  }

  /** Lets everything happen, with the pauses of a reconnect. */
  async rest(): Promise<void> {
    for (let second = 0; second < 5; second++) {
      await settled(...this.links);
      this.clock.advance(1_000);
    }
    await settled(...this.links);
  }
}

async function appOn(backend: Backend, provider: Type): Promise<INestApplicationContext> {
  const module = class {};
  const imports = [DlxBrokerModule.forRoot({ broker: customBackend(backend), drainTimeout: 0 })];
  const app = await NestFactory.createApplicationContext(
    { module, imports, providers: [provider] },
    { logger: false, abortOnError: false },
  );
  ends.push(() => app.close());
  return app;
}

it('a connection that is lost between the confirms and the ack doubles events with equal ids, which @Idempotent drops', async () => {
  const server = new CuttingServer();
  const runs: string[] = [];
  @Injectable()
  class Jobs {
    constructor(private readonly client: DlxClient) {}
    @Consume('jobs')
    @Outbox()
    run(@Payload() job: string): void {
      runs.push(job);
      this.client.emit('out.one', `${job} 1`);
      this.client.emit('out.two', `${job} 2`);
    }
  }
  const seen: string[] = [];
  @Injectable()
  class Events {
    @Consume({ queue: 'events', routingKey: 'out.#' })
    @Idempotent()
    event(@Payload() event: string): void {
      seen.push(event);
    }
  }
  const backend = await linkedBackend(server);
  const before = await appOn(backend, Events); // declares its queue, and consumes nothing any more
  await before.close();
  const jobs = await appOn(await linkedBackend(server), Jobs);
  const properties = { messageId: 'm', contentType: 'application/json', deliveryMode: 2 };
  const body = Buffer.from('"a"');
  jobs.get(DlxBroker).backend.publish({ exchange: '', routingKey: 'jobs', properties, body });
  await server.rest();
  expect([server.cuts, runs]).toEqual([1, ['a', 'a']]);
  const { queues } = server.broker.virtualHost('/');
  const ids = queues
    .get('events')!
    .browse({ limit: 10 })
    .entries.map(({ message }) => message.own.messageId!);
  expect(ids).toHaveLength(4);
  expect(ids.slice(0, 2)).toEqual(ids.slice(2));
  expect(new Set(ids).size).toBe(2);
  expect([queues.get('jobs')!.length, queues.get('jobs')!.unacked]).toEqual([0, 0]);

  const events = await appOn(await linkedBackend(server), Events);
  await server.rest();
  expect(seen).toEqual(['a 1', 'a 2']);
  expect(events.get(DlxBroker).counts).toMatchObject({ acked: 2, duplicates: 2 });
});

it('one event in all is not doubled by a dlx-broker: it takes the place of its message', async () => {
  const server = new CuttingServer();
  @Injectable()
  class Jobs {
    constructor(private readonly client: DlxClient) {}
    @Consume('jobs')
    @Outbox()
    run(): void {
      this.client.emit('jobs.done', 1);
    }
    @Consume({ queue: 'done', routingKey: 'jobs.*' })
    done(): Promise<void> {
      return new Promise(() => undefined);
    }
  }
  const app = await appOn(await linkedBackend(server), Jobs);
  const properties = { messageId: 'm', contentType: 'application/json', deliveryMode: 2 };
  app.get(DlxBroker).backend.publish({ exchange: '', routingKey: 'jobs', properties, body: Buffer.from('"a"') });
  await server.rest();
  const { queues } = server.broker.virtualHost('/');
  expect([server.cuts, queues.get('jobs')!.length, queues.get('jobs')!.unacked]).toEqual([0, 0, 0]);
  expect(queues.get('done')!.unacked).toBe(1);
});
