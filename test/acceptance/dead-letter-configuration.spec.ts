import { Test } from '@nestjs/testing';
import { DeadLetter, DlxBrokerModule, sharedBroker } from 'dlx-broker';
import { createBroker, type Broker } from 'dlx-broker/engine';
import { afterEach, describe, expect, it } from 'vitest';
import { direct, fails, Morgue, shop, standing, topologyOf, worker, type Queues } from './arrange.js';

describe('a dead-letter exchange can be given', () => {
  it('by an argument of the queue, which is what the decorator writes', async () => {
    const { dlx, emit, bodies } = await shop({ providers: [worker(fails, DeadLetter('dlx', 'failed')), Morgue] });
    const declared = dlx.broker.virtualHost('/').queues.get('work')!.declared.arguments;
    expect(declared.get('x-dead-letter-exchange')?.value).toBe('dlx');
    expect(declared.get('x-dead-letter-routing-key')?.value).toBe('failed');
    await emit('work', 'bad');
    expect(bodies()[0]?.context.message).toMatchObject({ exchange: 'dlx', routingKey: 'failed' });
  });

  it('by a policy, for queues that exist already (rule F6)', async () => {
    const { dlx, emit, bodies } = await shop({ providers: [worker(fails), Morgue] });
    await emit('work', 'too early');
    const definition = { 'dead-letter-exchange': 'dlx' };
    dlx.broker.virtualHost('/').setPolicy('dying', { pattern: '.*', applyTo: 'queues', definition });
    await emit('work', 'bad');
    expect(bodies().map(({ data }) => data)).toEqual(['bad']);
    dlx.broker.virtualHost('/').deletePolicy('dying');
    await emit('work', 'too late');
    expect(bodies()).toHaveLength(1);
  });

  it('by a policy, with a routing key of its choice', async () => {
    const dlx = standing();
    const definition = { 'dead-letter-exchange': 'dlx', 'dead-letter-routing-key': 'by-policy' };
    dlx.broker.virtualHost('/').setPolicy('dying', { pattern: '^work$', applyTo: 'queues', definition });
    const { emit, bodies } = await shop({ providers: [worker(fails), Morgue] }, dlx);
    await emit('work', 'bad');
    expect(bodies()[0]?.context.message).toMatchObject({ exchange: 'dlx', routingKey: 'by-policy' });
  });

  it('by both: then the argument wins (rule F3)', async () => {
    const dlx = standing();
    const definition = { 'dead-letter-exchange': 'policy.dlx' };
    dlx.broker.virtualHost('/').setPolicy('dying', { pattern: '.*', applyTo: 'queues', definition });
    const { emit, bodies } = await shop(
      {
        providers: [worker(fails, DeadLetter('dlx')), Morgue],
        exchanges: { 'policy.dlx': 'fanout' },
        queues: { 'policy.dead': {} },
        bindings: [['policy.dlx', 'policy.dead']],
      },
      dlx,
    );
    await emit('work', 'bad');
    expect(bodies().map(({ data }) => data)).toEqual(['bad']);
    expect(dlx.queue('policy.dead').ready).toBe(0);
  });

  it('by both, each saying one half: exchange by argument, routing key by policy (rule F3)', async () => {
    const dlx = standing();
    const definition = { 'dead-letter-routing-key': 'by-policy' };
    dlx.broker.virtualHost('/').setPolicy('dying', { pattern: '.*', applyTo: 'queues', definition });
    const { emit, bodies } = await shop({ providers: [worker(fails, DeadLetter('dlx')), Morgue] }, dlx);
    await emit('work', 'bad');
    expect(bodies()[0]?.context.message.routingKey).toBe('by-policy');
  });
});

describe('the dead-letter exchange', () => {
  /** Without `declare: false` it would be declared for being mentioned. */
  const undeclared = { queues: { idle: { 'x-dead-letter-exchange': 'later', 'x-message-ttl': 1_000 } } };

  it('need not exist when the queue is declared, only when a message dies (rule F2)', async () => {
    const { dlx, emit, advance } = await shop({
      ...undeclared,
      queues: { ...undeclared.queues, dead: {} },
      providers: [],
    });
    expect(dlx.broker.virtualHost('/').exchanges.has('later')).toBe(false);
    await emit('idle', 'lost', direct);
    await advance('1s');
    expect(dlx.queue('dead').ready).toBe(0);

    await dlx.backend.declare(topologyOf({ exchanges: { later: 'fanout' }, bindings: [['later', 'dead']] }));
    await emit('idle', 'found', direct);
    await advance('1s');
    expect(dlx.queue('dead').payloads()).toEqual(['found']);
  });

  it('if it is missing then, messages vanish without a word (rule A7)', async () => {
    const { dlx, emit, advance } = await shop({ ...undeclared, providers: [] });
    await emit('idle', 'lost', direct);
    await advance('1s');
    expect(dlx.queue('idle')).toMatchObject({ ready: 0, unacknowledged: 0 });
  });

  it('if no queue is bound to it, they vanish as well (rule A9)', async () => {
    const { dlx, emit } = await shop({ providers: [worker(fails, DeadLetter('lonely'))] });
    expect(dlx.broker.virtualHost('/').exchanges.has('lonely')).toBe(true);
    await emit('work', 'lost');
    expect(dlx.queue('work')).toMatchObject({ ready: 0, unacknowledged: 0 });
  });
});

describe('a user who declares a queue with a dead-letter exchange needs', () => {
  const brokers: Broker[] = [];
  afterEach(() => {
    for (const broker of brokers.splice(0)) broker.close();
  });

  const dying = { work: { 'x-dead-letter-exchange': 'dlx' } };

  /** Starts an application that declares queues and consumes none, as a user who may configure everything. */
  async function startAs(read: string, write: string, queues: Queues = dying): Promise<string> {
    const broker = createBroker();
    brokers.push(broker);
    broker.access.setUser('shop');
    broker.access.setPermissions('shop', '/', { configure: '.*', read, write });
    const imports = [
      DlxBrokerModule.forRoot({ broker: sharedBroker(broker, { user: 'shop' }), topology: topologyOf({ queues }) }),
    ];
    const module = await Test.createTestingModule({ imports }).compile();
    module.useLogger(false);
    const outcome = await module.init().then(
      () => 'it started',
      (error: unknown) => String(error),
    );
    await module.close().catch(() => undefined);
    return outcome;
  }

  it('permission to read that queue (rule N2)', async () => {
    expect(await startAs('^other$', '.*')).toMatch(/access to queue 'work' in vhost '\/' refused for user 'shop'/);
  });

  it('and permission to write to that exchange', async () => {
    expect(await startAs('.*', '^work$')).toMatch(/access to exchange 'dlx' in vhost '\/' refused for user 'shop'/);
  });

  it('and with both it starts', async () => {
    expect(await startAs('^work$', '^dlx$')).toBe('it started');
  });

  it('while a queue without one needs neither', async () => {
    expect(await startAs('^$', '^$', { work: {} })).toBe('it started');
  });
});
