import { describe, expect, it } from 'vitest';
import { int32, longstr } from '../../message/index.js';
import { CountedNames } from '../../../nest/testing/counted-names.js';
import { listen, type Listener, publishText } from '../../../../../../test/harnesses/listener.js';
import { ManualClock } from '../../../nest/testing/manual-clock.js';
import { Broker } from '../broker.js';
import type { MatchCost } from '../patterns.js';
import { type Journal, silentOutbox } from '../ports.js';

const count = 5_000;
const budget = 100;
const toDead = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' };

const table = (entries: Readonly<Record<string, string | number>>) =>
  new Map(Object.entries(entries).map(([name, v]) => [name, typeof v === 'string' ? longstr(v) : int32(v)]));

/** Counts what happens to messages, turn by turn: nothing of it depends on how fast this machine is. */
class CountingJournal implements Journal {
  most = 0;
  turns = 1;
  readonly sequence = 0;
  #now = 0;

  /** The host breathes. */
  breathe(): void {
    this.#now = 0;
    this.turns++;
  }

  count(): void {
    this.most = Math.max(this.most, ++this.#now);
  }

  refuses(): boolean {
    return false;
  }
  changed(): void {}
  delivered(): void {}
  enqueued(): void {
    this.count();
  }
  returned(): void {
    this.count();
  }
  died(): void {
    this.count();
  }
  settled(): void {
    this.count();
  }
  commit(synced: (() => void) | undefined): void {
    synced?.();
  }
}

interface Scene extends Listener {
  readonly broker: Broker;
  readonly clock: ManualClock;
}

function arrange(slices: boolean) {
  const journal = new CountingJournal();
  const clock = new ManualClock();
  const resumes: (() => void)[] = [];
  const pace = { budget, later: (resume: () => void) => void resumes.push(resume) };
  const patterns = { compile: (pattern: string) => ({ matches: (name: string) => name === pattern }) };
  const names = new CountedNames();
  const broker = new Broker({ clock, names, patterns, journal, ...(slices ? { pace } : {}) });
  const scene: Scene = { ...listen(broker), broker, clock };
  const drain = (): void => {
    for (let resume = resumes.shift(); resume !== undefined; resume = resumes.shift()) {
      journal.breathe();
      resume();
    }
  };
  const state = (): string[] => [
    ...[...broker.virtualHost('/').queues.values()].map((queue) => {
      const bodies: string[] = [];
      queue.peek(({ message }) => void bodies.push(Buffer.from(message.body).toString()));
      return `${queue.name} ${queue.unacked} ${bodies.join()}`;
    }),
    scene.bodies().join(),
  ];
  return { scene, journal, drain, state };
}

function fill({ channel }: Scene, args: Readonly<Record<string, string | number>> = {}): void {
  channel.declareQueue('dead');
  channel.declareQueue('q', { arguments: table(args) });
  for (let index = 0; index < count; index++) publishText(channel, '', 'q', String(index));
}

const things: readonly (readonly [string, (scene: Scene) => () => void])[] = [
  ['a consumer comes to a backlog', (scene) => (fill(scene), () => scene.channel.consume('q'))],
  ['a backlog expires', (scene) => (fill(scene, { 'x-message-ttl': 10, ...toDead }), () => scene.clock.advance(10))],
  [
    'everything is rejected at once',
    (scene) => (fill(scene, toDead), takeAll(scene), () => scene.channel.nack(0, true, false)),
  ],
  ['everything is acked at once', (scene) => (fill(scene), takeAll(scene), () => scene.channel.ack(0, true))],
  ['everything is requeued at once', (scene) => (fill(scene), takeAll(scene), () => scene.channel.nack(0, true, true))],
  [
    'all but some are rejected up to a tag',
    (scene) => (fill(scene, toDead), takeAll(scene), () => scene.channel.nack(count - 5, true, false)),
  ],
  [
    'all but some are acked up to a tag, of which some were acked before',
    (scene) => (
      fill(scene),
      takeAll(scene),
      scene.channel.ack(7),
      scene.channel.ack(count - 4),
      () => scene.channel.ack(count - 5, true)
    ),
  ],
  [
    'a transaction rejects everything',
    (scene) => (
      fill(scene, toDead),
      takeAll(scene),
      scene.channel.txSelect(),
      scene.channel.nack(0, true, false),
      () => scene.channel.txCommit()
    ),
  ],
  [
    'a transaction publishes and acks very many (rule K8)',
    (scene) => (
      fill(scene),
      takeAll(scene),
      scene.channel.txSelect(),
      publishAll(scene),
      scene.channel.ack(0, true),
      () => scene.channel.txCommit()
    ),
  ],
  ['a channel with everything is closed', (scene) => (fill(scene), takeAll(scene), () => scene.channel.close())],
  [
    'a policy shortens a queue',
    (scene) => (
      fill(scene, toDead),
      () => void scene.broker.virtualHost('/').setPolicy('p', { pattern: 'q', definition: { 'max-length': 3 } })
    ),
  ],
];

function publishAll({ channel }: Scene): void {
  for (let index = 0; index < count; index++) publishText(channel, '', 'dead', String(index));
}

function takeAll({ channel }: Scene): void {
  for (let taken = 0; taken < count; taken++) channel.get('q');
}

describe('with a pace, the host gets its turn soon, and all is as without, when', () => {
  it.each(things)('%s', (_name, prepare) => {
    const whole = arrange(false);
    prepare(whole.scene)();
    const sliced = arrange(true);
    const go = prepare(sliced.scene);
    sliced.drain();
    sliced.journal.most = 0;
    sliced.journal.breathe();
    sliced.journal.turns = 1;
    go();
    sliced.drain();
    // A step is a message that dies, is carried on, settled or delivered; it touches two queues at most here.
    expect(sliced.journal.most).toBeLessThanOrEqual(2 * budget);
    expect(sliced.journal.turns).toBeGreaterThanOrEqual(count / budget);
    expect(sliced.state()).toEqual(whole.state());
  });

  it('what a shortened queue still has too much goes before new messages are refused or dropped (rule C14)', () => {
    const { scene, drain } = arrange(true);
    fill(scene, toDead);
    drain();
    const definition = { 'max-length': 3, overflow: 'reject-publish' };
    scene.broker.virtualHost('/').setPolicy('p', { pattern: 'q', definition });
    scene.channel.confirmSelect();
    publishText(scene.channel, '', 'q', 'too many');
    drain();
    expect(scene.confirms).toEqual(['nack 1']);
    expect(scene.broker.virtualHost('/').queues.get('q')?.length).toBe(3);
    expect(scene.broker.virtualHost('/').queues.get('dead')?.length).toBe(count - 3);
  });
});

/** Ten milliseconds later, of which no alarm has heard yet. */
function late(clock: ManualClock): void {
  const then = clock.now() + 10;
  clock.now = () => then;
}

describe('with a pace, in turns:', () => {
  it('basic.get is answered when what has expired around its message is gone (rules B5, Q7)', () => {
    const { scene, journal, drain } = arrange(true);
    const { channel, clock, broker } = scene;
    channel.declareQueue('q');
    const some = 3_000;
    const short = { expiration: '10' };
    for (let n = 0; n < some; n++) publishText(channel, '', 'q', 'dead', short);
    publishText(channel, '', 'q', 'live');
    for (let n = 0; n < some; n++) publishText(channel, '', 'q', 'dead', short);
    publishText(channel, '', 'q', 'last');
    drain();
    late(clock);
    journal.most = 0;
    journal.breathe();
    const got: unknown[] = [];
    channel.fetch('q', {}, (one) => void got.push([Buffer.from(one?.body ?? []).toString(), one?.messageCount]));
    expect(got).toEqual([]);
    drain();
    expect(got).toEqual([['live', 1]]);
    expect(broker.virtualHost('/').queues.get('q')?.unacked).toBe(1);
    expect(journal.most).toBeLessThanOrEqual(256 + budget);
    channel.fetch('q', { noAck: true }, (one) => void got.push(one?.messageCount));
    channel.fetch('q', { noAck: true }, (one) => void got.push(one));
    expect(got.slice(1)).toEqual([0, undefined]);
  });

  it('a get whose queue is deleted meanwhile ends its channel with 404, one whose channel ends takes nothing', () => {
    const { scene, drain } = arrange(true);
    const other = listen(scene.broker);
    for (const queue of ['gone', 'stays']) {
      scene.channel.declareQueue(queue);
      for (let n = 0; n < 3_000; n++) publishText(scene.channel, '', queue, 'dead', { expiration: '10' });
      publishText(scene.channel, '', queue, 'live');
    }
    drain();
    late(scene.clock);
    const got: unknown[] = [];
    scene.channel.fetch('gone', {}, (one) => void got.push(one));
    other.channel.deleteQueue('gone');
    other.channel.fetch('stays', { noAck: true }, (one) => void got.push(one));
    other.channel.close();
    drain();
    expect(got).toEqual([]);
    expect(scene.errors).toMatchObject([{ code: 404, message: "NOT_FOUND - no queue 'gone' in vhost '/'" }]);
    expect(scene.broker.virtualHost('/').queues.get('stays')?.length).toBeGreaterThan(0);
    expect(scene.channel.isClosed).toBe(true);
  });

  it('a commit that is refused in part ends its channel behind what it made possible (rules K9, K13)', () => {
    const { scene, drain } = arrange(true);
    const { channel } = scene;
    channel.declareQueue('full', { arguments: table({ 'x-max-length': 0, 'x-overflow': 'reject-publish' }) });
    channel.declareQueue('q');
    publishText(channel, '', 'q', 'first');
    publishText(channel, '', 'q', 'second');
    channel.qos(1);
    channel.consume('q');
    drain();
    channel.txSelect();
    channel.ack(1);
    for (let n = 0; n < 1_000; n++) publishText(channel, '', n === 7 ? 'full' : 'dead', 'x');
    const settled: unknown[] = [];
    channel.txCommit((failure) => void settled.push(failure?.message));
    expect(settled).toEqual([]);
    drain();
    expect(settled).toEqual(['PRECONDITION_FAILED - partial tx completion']);
    expect(scene.bodies()).toEqual(['first', 'second']);
    expect(scene.errors).toMatchObject([{ code: 406, message: 'PRECONDITION_FAILED - partial tx completion' }]);
  });
});

describe('a ring of two queues', () => {
  it('that only overflows is cut, for 20,000 messages (rule I4e)', () => {
    const { scene, journal, drain } = arrange(true);
    const vhost = scene.broker.virtualHost('/');
    scene.channel.declareQueue('a', { arguments: table({ ...toDead, 'x-dead-letter-routing-key': 'b' }) });
    scene.channel.declareQueue('b', {
      arguments: table({ ...toDead, 'x-dead-letter-routing-key': 'a', 'x-max-length': 0 }),
    });
    for (let index = 0; index < 20_000; index++) publishText(scene.channel, '', 'a', 'x');
    journal.most = 0;
    journal.breathe();
    vhost.setPolicy('p', { pattern: 'a', definition: { 'max-length': 0 } });
    drain();
    expect(journal.most).toBeLessThanOrEqual(3 * budget);
    expect([...vhost.queues.values()].map(({ length, unacked }) => length + unacked)).toEqual([0, 0]);
  });

  it('with a consumer that rejects goes on for ever, and every turn ends (rule I4c)', () => {
    const { scene, journal } = arrange(false);
    let turns = 0;
    let resume: (() => void) | undefined;
    const pace = { budget, later: (next: () => void) => void (resume = next) };
    const broker = new Broker({
      clock: scene.clock,
      names: new CountedNames(),
      patterns: { compile: () => ({ matches: () => true }) },
      journal,
      pace,
    });
    let rejected = 0;
    const channel = broker.connect().openChannel({
      deliver({ deliveryTag }) {
        rejected++;
        channel.reject(deliveryTag, false);
      },
      returned() {},
      confirmed() {},
      cancelled() {},
      closed() {},
    });
    channel.declareQueue('work', { arguments: table({ ...toDead, 'x-dead-letter-routing-key': 'wait' }) });
    channel.declareQueue('wait', {
      arguments: table({ ...toDead, 'x-dead-letter-routing-key': 'work', 'x-message-ttl': 0 }),
    });
    for (let index = 0; index < 1_000; index++) publishText(channel, '', 'work', 'x');
    journal.most = 0;
    journal.breathe();
    channel.consume('work');
    for (; turns < 2_000 && resume !== undefined; turns++) {
      const next = resume;
      resume = undefined;
      journal.breathe();
      next();
    }
    expect(turns).toBe(2_000);
    expect(rejected).toBeGreaterThan(10_000);
    expect(journal.most).toBeLessThanOrEqual(4 * budget);
  });
});

describe('with a pace, a command about very many takes so many steps in a turn, and no more:', () => {
  const many = 3_000;

  /** Counts what a turn does to queues: a policy applied, an end. */
  function counted(broker: Broker) {
    const vhost = broker.addVirtualHost('v');
    const channel = broker.connect({ vhost: 'v' }).openChannel(silentOutbox);
    for (let n = 0; n < many; n++) {
      channel.declareQueue(`q${n}`, { arguments: table({ 'x-expires': 5_000 }), durable: true });
    }
    const queues = [...vhost.queues.values()];
    let now = 0;
    const turn = { most: 0, turns: 1, breathe: () => ((now = 0), void turn.turns++) };
    for (const queue of queues) {
      const { apply, delete: remove } = queue;
      const count = (): void => void (turn.most = Math.max(turn.most, ++now));
      queue.apply = (...args) => (count(), apply.call(queue, ...args));
      queue.delete = () => (count(), remove.call(queue));
    }
    return { vhost, queues, turn };
  }

  function scene() {
    const clock = new ManualClock();
    const resumes: (() => void)[] = [];
    const pace = { budget, later: (resume: () => void) => void resumes.push(resume) };
    const efforts = { each: 0 };
    const patterns = {
      compile: () => ({
        matches: (_name: string, cost?: MatchCost) => {
          if (cost !== undefined) cost.steps += efforts.each;
          return true;
        },
      }),
    };
    const broker = new Broker({ clock, names: new CountedNames(), patterns, pace });
    const drain = (breathe: () => void): void => {
      for (let resume = resumes.shift(); resume !== undefined; resume = resumes.shift()) {
        breathe();
        resume();
      }
    };
    return { broker, clock, drain, efforts };
  }

  it('a policy for all queues (rule F6)', () => {
    const { broker, drain } = scene();
    const { vhost, queues, turn } = counted(broker);
    drain(turn.breathe);
    vhost.setPolicy('p', { pattern: '.*', definition: { 'max-length': 3 } });
    let sequence = false;
    vhost.whenPoliciesApply(() => (sequence = true));
    expect(sequence).toBe(false);
    expect(queues.at(-1)?.inForce.policy?.name).toBeUndefined();
    drain(turn.breathe);
    expect(sequence).toBe(true);
    expect(queues.every(({ inForce, settings }) => inForce.policy?.name === 'p' && settings.maxLength === 3)).toBe(
      true,
    );
    expect(turn.most).toBeLessThanOrEqual(budget / 2);
  });

  it('a policy whose pattern takes many steps for each name', () => {
    const { broker, drain, efforts } = scene();
    efforts.each = 500;
    const { vhost, turn } = counted(broker);
    drain(turn.breathe);
    vhost.setPolicy('p', { pattern: '(a+)+$', definition: { 'max-length': 3 } });
    drain(turn.breathe);
    expect(turn.most).toBeLessThanOrEqual(5);
  });

  it('two changes of policies: the last one holds for all (rule F6)', () => {
    const { broker, drain } = scene();
    const { vhost, queues, turn } = counted(broker);
    drain(turn.breathe);
    vhost.setPolicy('p', { pattern: '.*', definition: { 'max-length': 3 } });
    vhost.setPolicy('p', { pattern: '.*', definition: { 'max-length': 4 } });
    vhost.setPolicy('p', { pattern: '.*', definition: { 'max-length': 5 } });
    drain(turn.breathe);
    expect(new Set(queues.map(({ settings }) => settings.maxLength))).toEqual(new Set([5]));
  });

  it('the end of a virtual host, which is gone at once for all clients', () => {
    const { broker, drain, clock } = scene();
    const { queues, turn } = counted(broker);
    drain(turn.breathe);
    broker.removeVirtualHost('v');
    expect(broker.virtualHosts.has('v')).toBe(false);
    expect(queues.every(({ deleted }) => deleted)).toBe(true);
    expect(broker.counters.queueDeleted).toBe(many);
    clock.advance(10_000); // their time is over, too, and nothing happens
    drain(turn.breathe);
    expect(turn.most).toBeLessThanOrEqual(budget);
    expect(turn.turns).toBeGreaterThan(many / budget / 2);
  });

  it('the expiry of all queues at the same moment (rule B12)', () => {
    const { broker, drain, clock } = scene();
    const { vhost, turn } = counted(broker);
    drain(turn.breathe);
    clock.advance(5_000);
    drain(turn.breathe);
    expect(vhost.queues.size).toBe(0);
    expect(turn.most).toBeLessThanOrEqual(budget);
    expect(turn.turns).toBeGreaterThanOrEqual(many / budget);
  });

  /** Enough for ten turns and more. */
  const some = 2_000;

  it('the end of a connection, which is reported to its client when all is done (rules A8, O4)', () => {
    const { broker, drain } = scene();
    const vhost = broker.virtualHost('/');
    const other = broker.connect().openChannel(silentOutbox);
    for (let n = 0; n < some; n++) other.declareQueue(`q${n}`);
    const got: string[] = [];
    const connection = broker.connect();
    for (let c = 0; c < 10; c++) {
      const channel = connection.openChannel({ ...silentOutbox, deliver: ({ queue }) => void got.push(queue) });
      for (let n = c; n < some; n += 10) channel.consume(`q${n}`);
      for (let n = c; n < some; n += 10) channel.declareQueue(`mine${n}`, { exclusive: true });
    }
    drain(() => {});
    publishText(other, '', 'q1', 'in its hands');
    const turn = { most: 0, now: 0, turns: 1 };
    const count = (): void => void (turn.most = Math.max(turn.most, ++turn.now));
    for (const queue of vhost.queues.values()) {
      const { delete: remove, removeConsumer } = queue;
      queue.delete = () => (count(), remove.call(queue));
      queue.removeConsumer = (...args) => (count(), removeConsumer.call(queue, ...args));
    }
    let ended = 0;
    connection.close(() => ended++);
    connection.close(() => ended++);
    expect(connection.isClosed).toBe(true);
    expect([ended, vhost.connections.has(connection), vhost.queues.size]).toEqual([0, false, 2 * some]);
    publishText(other, '', `q${some - 1}`, 'too late');
    drain(() => ((turn.now = 0), void turn.turns++));
    expect(got).toEqual(['q1']);
    expect(ended).toBe(2);
    expect(vhost.queues.size).toBe(some);
    const lengths = [...vhost.queues.values()].map(({ length, consumers }) => [length, consumers.count].join());
    expect(new Set(lengths)).toEqual(new Set(['0,0', '1,0']));
    expect(vhost.queues.get('q1')?.length).toBe(1);
    expect(turn.most).toBeLessThanOrEqual(256); // those at once
    expect(turn.turns).toBeGreaterThanOrEqual((2 * some - 256) / budget);
  });

  it('the end of very many small connections', () => {
    const { broker, drain } = scene();
    const vhost = broker.virtualHost('/');
    const other = broker.connect().openChannel(silentOutbox);
    other.declareQueue('q');
    const connections = Array.from({ length: some }, () => {
      const connection = broker.connect();
      connection.openChannel(silentOutbox).consume('q');
      return connection;
    });
    drain(() => {});
    const queue = vhost.queues.get('q');
    let most = 0;
    let before = some;
    const look = (): void => {
      const left = queue?.consumers.count ?? NaN;
      most = Math.max(most, before - left);
      before = left;
    };
    for (const connection of connections) connection.close();
    drain(look);
    look();
    expect(queue?.consumers.count).toBe(0);
    expect(most).toBeLessThanOrEqual(2 * budget);
  });

  it('a rollback, or the end, of a transaction with many acks (rule K8)', () => {
    const { broker, drain } = scene();
    const channel = broker.connect().openChannel(silentOutbox);
    channel.declareQueue('q');
    for (let n = 0; n < some; n++) publishText(channel, '', 'q', 'x');
    for (let n = 0; n < some; n++) channel.get('q');
    drain(() => {});
    channel.txSelect();
    const { unacked } = channel.receiver.settler;
    const { restore } = unacked;
    let restored = 0;
    unacked.restore = (records) => (restored++, restore.call(unacked, records));
    for (let n = 1; n <= some; n++) channel.ack(n);
    channel.txRollback();
    expect([restored, channel.unackedCount]).toEqual([1, some]);
    for (let n = 1; n <= some; n++) channel.ack(n);
    channel.close();
    drain(() => {});
    expect([restored, broker.virtualHost('/').queues.get('q')?.length]).toEqual([2, some]);
  });

  it('a broker that is closed leaves no end half done', () => {
    const { broker, drain } = scene();
    const vhost = broker.virtualHost('/');
    const channel = broker.connect().openChannel(silentOutbox);
    for (let n = 0; n < some; n++) channel.declareQueue(`mine${n}`, { exclusive: true });
    drain(() => {});
    broker.close();
    expect(vhost.queues.size).toBe(0);
  });
});
