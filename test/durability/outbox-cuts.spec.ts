import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx } from '@nestjs/microservices';
import { Consume, customBackend, DlxBrokerModule, DlxClient, DlxContext, Idempotent, Outbox, Retry } from 'dlx-broker';
import { expect, it } from 'vitest';
import { EmbeddedBackend } from '../../libs/dlx-broker/src/backends/index.js';
import { Broker, silentOutbox } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { Random } from '../fuzz/random.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { FakeDisk } from './fake-disk.js';
import { lent } from './harness.js';

const ids = ['a', 'b', 'c', 'd'];
const ends = endsAfterEach();

async function openOn(disk: FakeDisk) {
  const clock = new ManualClock();
  const journal = await DiskJournal.open(disk, { segment: 16_384, diskFree: 0, now: () => clock.now() });
  const broker = new Broker({ ...lent(clock), journal });
  journal.restore(broker);
  return { broker, clock };
}

/** The cause of each message in a queue: the beginning of its id. */
function causesIn(broker: Broker, queue: string): readonly string[] {
  const channel = broker.connect().openChannel(silentOutbox);
  const found: string[] = [];
  for (let got = channel.get(queue); got !== undefined; got = channel.get(queue)) {
    found.push(got.message.properties.messageId!.slice(0, 1));
  }
  return found.toSorted();
}

/** A handler that emits three events, one of them delayed; message `b` fails at first. */
@Injectable()
class Jobs {
  constructor(private readonly client: DlxClient) {}

  @Consume({ queue: 'jobs', routingKey: 'job' })
  @Outbox()
  @Idempotent()
  @Retry({ attempts: 2, backoff: ['1s'] })
  run(@Ctx() { properties, attempt }: DlxContext): void {
    const body = 'x'.repeat(1_500);
    this.client.emit('one', body);
    this.client.emit('late', body, { delay: '10s' });
    this.client.emit('two', body);
    if (properties.messageId === 'b' && attempt === 1) throw new Error('no');
  }
}

/** An application handles four messages, while the power fails at each step of the disk. */
async function cutsOf(seed: number) {
  const random = new Random(seed);
  const disk = new FakeDisk();
  disk.isManual = false;
  const { broker, clock } = await openOn(disk);
  const module = class {};
  const queues = ['one', 'two', 'late'];
  const bindings = queues.map((name) => ({ source: 'dlx.events', destination: name, routingKey: name }));
  const backend = new EmbeddedBackend(broker);
  const options = { broker: customBackend(backend), topology: { queues, bindings }, drainTimeout: 0 };
  const app = await NestFactory.createApplicationContext(
    { module, imports: [DlxBrokerModule.forRoot(options)], providers: [Jobs] },
    { logger: false, abortOnError: false },
  );
  ends.push(async () => {
    disk.isManual = false;
    disk.onStep = () => undefined;
    await app.close();
  });
  for (let turn = 0; turn < 50; turn++) await setImmediate();

  const cuts: FakeDisk[] = [];
  let published = 0;
  disk.isManual = true;
  disk.onStep = () => published === ids.length && cuts.push(disk.afterPowerCut(random));
  for (const id of ids) {
    const properties = { messageId: id, contentType: 'application/json', deliveryMode: 2 };
    const job = { exchange: 'dlx.events', routingKey: 'job', properties, body: Buffer.from('1') };
    backend.publish(job, (failure) => {
      expect(failure).toBeUndefined();
      published++;
    });
  }
  for (let step = 0; step < 400; step++) {
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    disk.advance();
    if (step === 40) clock.advance(1_000); // the retry of `b`
  }
  cuts.push(disk.afterPowerCut(random));
  return cuts;
}

it.each([1, 2, 3])('a power cut leaves a message, or all that its handler emitted for it (seed %i)', async (seed) => {
  const cuts = await cutsOf(seed);
  const lengths = new Set<number>();
  for (const disk of cuts) {
    disk.isManual = false;
    const { broker, clock } = await openOn(disk);
    clock.advance(1_000);
    const left = causesIn(broker, 'jobs');
    clock.advance(10_000);
    const handled = ids.filter((id) => !left.includes(id));
    for (const queue of ['one', 'two', 'late']) {
      expect(causesIn(broker, queue), `${queue}, while ${left.join(',')} are left`).toEqual(handled);
    }
    expect(new Set(left).size).toBe(left.length);
    lengths.add(left.length);
  }
  expect(lengths.has(0) && lengths.size > 1, JSON.stringify([...lengths])).toBe(true);
});
