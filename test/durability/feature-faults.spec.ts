import { setImmediate, setTimeout } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Consume, customBackend, DlxBrokerModule, DlxClient, Outbox, Retry } from 'dlx-broker';
import { describe, expect, it } from 'vitest';
import { EmbeddedBackend } from '../../libs/dlx-broker/src/backends/index.js';
import { Broker, silentOutbox } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { Random } from '../fuzz/random.js';
import { apiHarness } from '../harnesses/api-harness.js';
import { rejectAll } from '../harnesses/dying.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { FakeDisk } from './fake-disk.js';
import { systemError } from './fake-file.js';
import { lent } from './harness.js';

const full = systemError('ENOSPC', 'injected');
const broken = systemError('EIO', 'injected');
const ids = ['1', '2', '3', '4', '5', '6', '7', '8'];
const path = '/dlx/queues/%2F/dead';
const ends = endsAfterEach();

const journalOn = (disk: FakeDisk, memory?: number): Promise<DiskJournal> => {
  disk.isManual = false;
  const options = { diskFree: 0, segment: 16_384, checkInterval: 1, now: () => 0 };
  return DiskJournal.open(disk, { ...options, ...(memory !== undefined && { memory }) });
};

/** The API of a broker with eight messages in `dead`, which died in `work`. */
async function arrange(memory?: number) {
  const disk = new FakeDisk();
  const journal = await journalOn(disk, memory);
  const { broker, call, api } = apiHarness({ journal, edits: true });
  journal.restore(broker);
  const channel = broker.connect().openChannel(silentOutbox);
  const toDead = new Map([
    ['x-dead-letter-exchange', longstr('')],
    ['x-dead-letter-routing-key', longstr('dead')],
  ]);
  channel.declareQueue('work', { durable: true, arguments: toDead });
  channel.declareQueue('dead', { durable: true });
  for (const id of ids)
    channel.publish('', 'work', { messageId: id, deliveryMode: 2 }, Buffer.from(JSON.stringify({ id, is: 'old' })));
  rejectAll(channel, 'work');
  await journal.flush();
  return { disk, journal, broker, call, api, channel };
}

async function restarted(disk: FakeDisk): Promise<Broker> {
  const journal = await journalOn(disk);
  const broker = new Broker({ ...lent(new ManualClock()), journal });
  journal.restore(broker);
  expect(journal.damage).toMatchObject({ places: [], queues: [], misplaced: 0 });
  return broker;
}

const queueIn = (broker: Broker, name: string) => broker.virtualHost('/').queues.get(name);

/** The bodies in a queue by their message ids. */
function bodiesIn(broker: Broker, name: string): ReadonlyMap<string, string> {
  const bodies = new Map<string, string>();
  queueIn(broker, name)?.peek(({ message }) => {
    const id = message.own.messageId!;
    expect(bodies.has(id), `message ${id} twice in ${name}`).toBe(false);
    bodies.set(id, (JSON.parse(Buffer.from(message.body).toString()) as { is: string }).is);
  });
  return bodies;
}

const someTurns = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn++) await setImmediate();
};

/** What the disk may have after a power cut now, or if it kept everything. */
const remainsOf = (disk: FakeDisk): readonly FakeDisk[] => [
  disk.copy(),
  ...[1, 2, 3].map((seed) => disk.afterPowerCut(new Random(seed))),
];

describe('a pause of a queue', () => {
  it('rule X5: on a full disk holds at once, is answered when it is stored, and was not answered if it is lost', async () => {
    const { disk, journal, broker, call } = await arrange();
    disk.writeError = full;
    const answers: number[] = [];
    const put = call('PUT', `${path}/pause`, { body: { reason: 'why' } }).then(({ status }) => answers.push(status));
    for (let turn = 0; turn < 200 && !journal.isFull; turn++) await setTimeout(1);
    expect(journal.isFull).toBe(true);
    expect(queueIn(broker, 'dead')!.pausing.state).toMatchObject({ reason: 'why' });
    await someTurns();
    expect(answers).toEqual([]);
    for (const cut of remainsOf(disk)) expect(queueIn(await restarted(cut), 'dead')!.pausing.state).toBeUndefined();
    disk.writeError = undefined;
    await put;
    expect(answers).toEqual([204]);
    for (const cut of remainsOf(disk)) {
      const again = await restarted(cut);
      expect(queueIn(again, 'dead')!.pausing.state).toMatchObject({ reason: 'why' });
      expect(bodiesIn(again, 'dead').size).toBe(ids.length);
    }
  });

  it('rule X5: on a disk that fails for good is answered with the error', async () => {
    const { disk, call } = await arrange();
    disk.syncError = broken;
    expect((await call('PUT', `${path}/pause`, { body: { reason: 'why' } })).status).toBe(500);
    for (const cut of remainsOf(disk)) {
      const state = queueIn(await restarted(cut), 'dead')!.pausing.state;
      expect([undefined, 'why']).toContain(state?.reason);
    }
  });
});

describe('an edit', () => {
  const body = { payload: '{"id":"3","is":"new"}' };
  const to = `${path}/messages/3/edit`;

  async function wholeIn(disks: readonly FakeDisk[]): Promise<void> {
    for (const disk of disks) {
      const broker = await restarted(disk);
      const [dead, work] = [bodiesIn(broker, 'dead'), bodiesIn(broker, 'work')];
      for (const id of ids)
        expect([dead.get(id), work.get(id)]).toEqual(work.has(id) ? [undefined, 'new'] : ['old', undefined]);
    }
  }

  it('is whole or not there after a power cut in any of its writes', async () => {
    const { disk, journal, call } = await arrange();
    const random = new Random(23);
    const cuts: FakeDisk[] = [];
    disk.onStep = () => void cuts.push(disk.afterPowerCut(random));
    expect(await call('POST', to, { body })).toMatchObject({ status: 200, body: { moved: true } });
    await journal.flush();
    disk.onStep = () => undefined;
    expect(cuts.length).toBeGreaterThan(1);
    await wholeIn([...cuts, ...remainsOf(disk)]);
    expect([...bodiesIn(await restarted(disk), 'work')]).toEqual([['3', 'new']]);
  });

  it('is whole or not there when the disk fails for good', async () => {
    const { disk, call } = await arrange();
    disk.syncError = broken;
    expect((await call('POST', to, { body })).status).toBe(500);
    await wholeIn(remainsOf(disk));
  });

  it('on a full disk leaves each message once, and goes on', async () => {
    const { disk, journal, broker, call, channel } = await arrange();
    disk.writeError = full;
    channel.publish('', 'dead', { messageId: 'fills', deliveryMode: 2 }, Buffer.from('{"is":"old"}'));
    for (let turn = 0; turn < 200 && !journal.isFull; turn++) await setTimeout(1);
    expect(journal.isFull).toBe(true);
    // Waiting for room would take as long as the disk is full.
    const refused = await Promise.race([call('POST', to, { body }), setTimeout(1_000)]);
    expect(refused?.body, 'it is answered while the disk is full').toMatchObject({ moved: false, why: 'refused' });
    expect(bodiesIn(broker, 'work').size).toBe(0);
    await wholeIn(remainsOf(disk));
    disk.writeError = undefined;
    for (let turn = 0; turn < 1_000 && journal.isFull; turn++) await setTimeout(1);
    expect((await call('POST', to, { body })).status).toBe(200);
    await journal.flush();
    expect(bodiesIn(broker, 'work').size).toBe(1);
    await wholeIn(remainsOf(disk));
  });
});

it('an export names the messages whose bodies cannot be read, and has the others', async () => {
  const { disk, api } = await arrange(0);
  const lines = async (): Promise<{ id: string; payload: string | null }[]> => {
    const url = `/api${path}/export`;
    const headers = { authorization: `Basic ${btoa('guest:guest')}` };
    const incoming = { url, socket: { remoteAddress: '127.0.0.1' } };
    const answer = await api.fetch(new Request(`http://localhost${url}`, { headers }), { incoming } as never);
    expect(answer.status).toBe(200);
    const text = await answer.text();
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; payload: string | null });
  };
  disk.readError = broken;
  const during = await lines();
  expect(during.map(({ id }) => id)).toEqual(ids);
  expect(during.some(({ payload }) => payload === null)).toBe(true);
  disk.readError = undefined;
  expect((await lines()).map(({ payload }) => (JSON.parse(payload!) as { id: string }).id)).toEqual(ids);
});

@Injectable()
class Jobs {
  constructor(private readonly client: DlxClient) {}

  @Consume({ queue: 'jobs', routingKey: 'job' })
  @Outbox()
  @Retry({ attempts: 100, backoff: ['1s'] })
  run(): void {
    this.client.emit('one', '1');
    this.client.emit('two', '2');
  }
}

/** An application whose handler emits two events for each job. */
async function application(disk: FakeDisk) {
  const journal = await journalOn(disk);
  const clock = new ManualClock();
  const broker = new Broker({ ...lent(clock), journal });
  journal.restore(broker);
  const queues = ['one', 'two'];
  const bindings = queues.map((name) => ({ source: 'dlx.events', destination: name, routingKey: name }));
  const options = {
    broker: customBackend(new EmbeddedBackend(broker)),
    topology: { queues, bindings },
    drainTimeout: 0,
  };
  const module = class {};
  const app = await NestFactory.createApplicationContext(
    { module, imports: [DlxBrokerModule.forRoot(options)], providers: [Jobs] },
    { logger: false, abortOnError: false },
  );
  ends.push(() => app.close());
  await journal.flush();
  const publish = (): void =>
    void broker
      .connect()
      .openChannel(silentOutbox)
      .publish('dlx.events', 'job', { deliveryMode: 2 }, Buffer.from('{}'));
  const lengths = (of = broker) =>
    ['jobs', 'one', 'two'].map((name) => queueIn(of, name)!.length + queueIn(of, name)!.unacked);
  return { journal, clock, broker, publish, lengths };
}

describe('the outbox of a handler', () => {
  it('has all or nothing when the disk fails for good', async () => {
    const disk = new FakeDisk();
    const { publish, lengths } = await application(disk);
    disk.syncError = broken;
    publish();
    await someTurns();
    for (const cut of remainsOf(disk)) {
      const found = lengths(await restarted(cut));
      expect(['0,0,0', '1,0,0', '0,1,1']).toContain(found.join());
    }
  });

  it('waits while the disk is full, and then emits once', async () => {
    const disk = new FakeDisk();
    const { journal, clock, broker, publish, lengths } = await application(disk);
    const pausing = new EmbeddedBackend(broker).pausing!;
    await pausing.pause('jobs');
    publish();
    await journal.flush();
    disk.writeError = full;
    broker.connect().openChannel(silentOutbox).publish('', 'one', { deliveryMode: 2 }, Buffer.from('fills'));
    for (let turn = 0; turn < 200 && !journal.isFull; turn++) await setTimeout(1);
    expect(journal.isFull).toBe(true);
    const [, before] = lengths();
    void pausing.resume('jobs');
    for (let turn = 0; turn < 10; turn++) {
      clock.advance(1_000);
      await someTurns();
    }
    expect(lengths().slice(1)).toEqual([before, 0]);
    for (const cut of remainsOf(disk)) expect(lengths(await restarted(cut))).toEqual([1, 0, 0]);
    disk.writeError = undefined;
    for (let turn = 0; turn < 1_000 && journal.isFull; turn++) await setTimeout(1);
    for (let turn = 0; turn < 30; turn++) {
      clock.advance(1_000);
      await someTurns();
    }
    await journal.flush();
    expect(lengths()).toEqual([0, before! + 1, 1]);
    for (const cut of remainsOf(disk)) expect(lengths(await restarted(cut))).toEqual([0, before! + 1, 1]);
  });
});
