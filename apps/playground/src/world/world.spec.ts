import { describe, expect, it } from 'vitest';
import { lessons } from '../lessons/index.js';
import { type Command, readCommands } from './command.js';
import type { WorldEvent } from './event.js';
import { limits } from './host.js';
import type { QueueDefinition, Topology } from './topology.js';
import { World } from './world.js';

const topology: Topology = {
  exchanges: [{ name: 'dlx', type: 'fanout' }],
  queues: [{ name: 'work', arguments: { 'x-dead-letter-exchange': 'dlx', 'x-message-ttl': 1_000 } }, { name: 'dead' }],
  bindings: [{ source: 'dlx', destination: 'dead' }],
};

const run = (given: Topology, commands: readonly Command[], profile: '3.10' | '4' = '3.10'): World =>
  World.replay({ topology: given, profile }, commands);

const kinds = (events: readonly WorldEvent[]): string[] => events.map(({ kind, at }) => `${kind} ${at}`);

/** A queue whose dead letters go to an exchange at once. */
const dying = (name: string, exchange: string, ttl = 0): QueueDefinition => ({
  name,
  arguments: { 'x-dead-letter-exchange': exchange, 'x-message-ttl': ttl },
});

describe('a world', () => {
  it('reports the way of a message that expires', () => {
    const world = run(topology, [{ do: 'publish', key: 'work', body: 'a' }]);
    expect(world.state.queues[0]?.messages).toMatchObject([{ body: 'a', routingKey: 'work', expiresIn: 1_000 }]);
    expect(world.nextEvent()).toBe(1_000);
    world.advance(1_000);
    expect(kinds(world.events)).toEqual(['published 0', 'enqueued 0', 'died 1000', 'enqueued 1000']);
    expect(world.events[3]).toMatchObject({ queue: 'dead', exchange: 'dlx', key: 'work', from: { queue: 'work' } });
    expect(world.state.queues[1]?.messages[0]?.deaths).toMatchObject([{ queue: 'work', reason: 'expired', count: 1 }]);
    expect(world.nextEvent()).toBeUndefined();
  });

  it.each(lessons)('plays $id again from its own commands', ({ topology: given, steps }) => {
    const one = run(given, steps);
    const commands: unknown = JSON.parse(JSON.stringify(one.commands));
    const other = run(given, readCommands(commands));
    expect(other.state).toEqual(one.state);
    expect(other.events).toEqual(one.events);
  });

  it.each(lessons)('says of no message of $id that it arrived and was dropped', ({ topology: given, steps }) => {
    const { events } = run(given, steps);
    const arrived = new Set(events.flatMap((event) => (event.kind === 'enqueued' ? [event.from?.copy ?? 0] : [])));
    const gone = events.flatMap((event) =>
      event.kind === 'dropped' && event.queue === undefined ? [event.from?.copy] : [],
    );
    expect(gone.filter((copy) => arrived.has(copy ?? -1))).toEqual([]);
  });

  it('goes back to an earlier moment', () => {
    const commands: readonly Command[] = [
      { do: 'publish', key: 'work' },
      { do: 'wait', ms: 5_000 },
    ];
    const world = World.replay({ topology, profile: '4' }, commands, 400);
    expect([world.now, world.nextEvent(), world.state.queues[0]?.length]).toEqual([400, 600, 1]);
  });

  it('names the message that is delivered, returned and acknowledged', () => {
    const world = run(topology, [
      { do: 'publish', key: 'work', body: 'a', count: 2 },
      { do: 'consume', queue: 'work', consumer: 'c' },
      { do: 'nack', consumer: 'c', requeue: true },
      { do: 'ack', consumer: 'c' },
    ]);
    const way = world.events.slice(4).map((event) => `${event.kind} ${'copy' in event ? event.copy : ''}`);
    expect(way).toEqual(['delivered 1', 'returned 1', 'delivered 1', 'acked 1', 'delivered 2']);
    expect(world.state.consumers[0]?.held.map(({ body }) => body)).toEqual(['a 2']);
  });

  it.each([
    ['no-dlx', [{ name: 'work' }], []],
    ['missing-dlx', [dying('work', 'nowhere', 10)], []],
    ['unroutable', [dying('work', 'dlx', 10)], []],
    ['cycle', [dying('work', 'dlx', 10)], [{ source: 'dlx', destination: 'work' }]],
    [
      'refused',
      [dying('work', 'dlx', 10), { name: 'full', arguments: { 'x-max-length': 0, 'x-overflow': 'reject-publish' } }],
      [{ source: 'dlx', destination: 'full' }],
    ],
  ] as const)('says why a message is dropped: %s', (why, queues, bindings) => {
    const world = run({ exchanges: [{ name: 'dlx', type: 'fanout' }], queues, bindings }, [
      { do: 'publish', key: 'work', expiration: '5' },
      { do: 'wait', ms: 50 },
    ]);
    expect(world.events.at(-1)).toMatchObject({ kind: 'dropped', why, from: { queue: 'work' } });
    expect(world.state.queues[0]?.length).toBe(0);
  });

  it('reports a refused command, and nothing of its message', () => {
    const world = run(topology, [
      { do: 'publish', key: 'work', expiration: 'soon' },
      { do: 'publish', exchange: 'nowhere', key: 'work' },
      { do: 'get', queue: 'nowhere' },
      { do: 'ack', consumer: 'c' },
      { do: 'clear-policy', name: 'p' },
      { do: 'publish', key: 'dead', body: 'b' },
      { do: 'get', queue: 'dead' },
    ]);
    expect(world.events.map((event) => (event.kind === 'refused' ? event.code : event.kind))).toEqual([
      406,
      404,
      404,
      406,
      404,
      'published',
      'enqueued',
      'delivered',
    ]);
    expect(world.state.consumers).toMatchObject([{ name: 'get', held: [{ body: 'b' }] }]);
  });

  it('keeps what is durable over a restart, with the history and the deadline', () => {
    const world = run(topology, [
      { do: 'declare-queue', queue: { name: 'transient', durable: false } },
      { do: 'publish', key: 'transient' },
      { do: 'publish', key: 'dead', headers: { tenant: 'x' } },
      { do: 'publish', key: 'work' },
      { do: 'publish', key: 'work' },
      { do: 'consume', queue: 'work', consumer: 'c' },
      { do: 'wait', ms: 400 },
      { do: 'restart' },
    ]);
    expect(world.events.at(-1)).toMatchObject({ kind: 'restarted', lost: 1 });
    expect(world.state.consumers).toEqual([]);
    expect(world.state.queues[0]?.messages.map(({ expiresIn, redelivered }) => [expiresIn, redelivered])).toEqual([
      [600, true],
      [600, false],
    ]);
    world.advance(600);
    expect(world.state.queues.map(({ name, length }) => [name, length])).toEqual([
      ['work', 0],
      ['dead', 3],
    ]);
  });

  it('exports definitions from which the same world comes', () => {
    const world = run(topology, [
      { do: 'policy', policy: { name: 'p', pattern: '.*', definition: { 'max-length': 9 } } },
    ]);
    expect(run(world.definitions, []).state).toEqual({ ...world.state });
    expect(run(world.definitions, []).definitions).toEqual(world.definitions);
  });
});

describe('a hostile world', () => {
  const all = Array.from({ length: 12 }, (_, index) => `q${index}`);

  it('stops where each death makes eleven more', () => {
    const world = run(
      {
        exchanges: [{ name: 'all', type: 'fanout' }],
        queues: all.map((name) => dying(name, 'all')),
        bindings: all.map((destination) => ({ source: 'all', destination })),
      },
      [{ do: 'publish', key: 'q0' }],
    );
    expect(world.stopped).toMatch(/steps at one moment|messages are the most/);
    expect(world.run({ do: 'publish', key: 'q0' })).toEqual([]);
  });

  it('takes no more messages than it can show, and keeps the last events', () => {
    const one: Command = { do: 'publish', key: 'dead', count: limits.messages };
    const world = run(topology, [one, one]);
    expect(world.state.queues[1]).toMatchObject({ length: limits.messages });
    expect(world.events.length).toBeLessThanOrEqual(limits.events);
    expect(world.events.at(-1)).toMatchObject({
      kind: 'refused',
      text: '10000 messages are the most here, and there is room for 0',
    });
  });

  it('ends a long time early where too much happens in it', () => {
    const table = { 'x-queue-type': 'quorum', 'x-dead-letter-exchange': 'dlx', 'x-message-ttl': 0 };
    const kept = { ...table, 'x-dead-letter-strategy': 'at-least-once', 'x-overflow': 'reject-publish' };
    const world = run({ queues: [{ name: 'work', arguments: kept }] }, [{ do: 'publish', key: 'work' }]);
    expect(world.advance(limits.ms).at(-1)).toMatchObject({ kind: 'stopped' });
    expect(world.now).toBeLessThan(limits.ms);
    expect([world.stopped, world.advance(1_000_000).at(-1)]).toEqual([undefined, undefined]);
  });

  it('publishes a limited number of messages, however often a queue is purged', () => {
    const steps: readonly Command[] = [
      { do: 'publish', key: 'work', count: 10_000 },
      { do: 'purge', queue: 'work' },
    ];
    const world = run({ queues: [{ name: 'work' }] }, Array<typeof steps>(11).fill(steps).flat());
    expect(world.events.filter(({ kind }) => kind === 'refused')).toMatchObject([
      { text: '100000 messages are the most that are published here' },
    ]);
  });

  it('makes a limited number of copies', () => {
    const queues = Array.from({ length: 100 }, (_, at) => ({ name: `q${at}`, arguments: { 'x-max-length': 0 } }));
    const bindings = queues.map(({ name }) => ({ source: 'amq.fanout', destination: name }));
    const world = run({ queues, bindings }, [{ do: 'publish', exchange: 'amq.fanout', key: '', count: 2_000 }]);
    expect(world.stopped).toBe('100000 copies are the most here');
  });

  it.each([
    [null, 'the topology is not an object with exchanges, queues, bindings and policies'],
    [{ queue: [] }, "the topology has 'queue', which is none of exchanges, queues, bindings, policies"],
    [{ queues: {} }, 'queues is not a list'],
    [{ queues: Array(101).fill({ name: 'q' }) }, 'queues has 101 entries, and 100 are the most'],
    [{ queues: [{ name: 7 }] }, "queues[0]: 'name' is not a text of at most 255 bytes"],
    [
      { queues: [{ name: 'q', ttl: 7 }] },
      "queues[0] has 'ttl', which is none of name, type, durable, auto_delete, vhost, arguments",
    ],
    [{ bindings: [{ source: 'a', destination: 'b' }] }, "bindings[0]: NOT_FOUND - no exchange 'a' in vhost '/'"],
    [
      { queues: [{ name: 'q', arguments: { 'x-message-ttl': -1 } }] },
      /^queues\[0\]: PRECONDITION_FAILED - .*x-message-ttl/,
    ],
    [{ policies: [{ name: 'p', pattern: '(', definition: {} }] }, /^policies\[0\]: /],
  ])('has a clear error: %j', (given, message) => {
    expect(() => new World({ topology: given as Topology, profile: '4' })).toThrow(message);
  });

  it.each([
    [{}, 'the commands are not a list'],
    [[{ do: 'rm' }], /^commands\[0\]: 'do' is none of publish, consume/],
    [[{ do: 'publish' }], "commands[0]: 'key' is not a text of at most 255 bytes"],
    [[{ do: 'wait', ms: -1 }], "commands[0]: 'ms' is not a whole number from 0"],
    [
      [{ do: 'declare-queue', queue: { name: 'q', __proto__x: 1 } }],
      "commands[0].queue has '__proto__x', which is none of",
    ],
    [
      [{ do: 'publish', key: 'q', headers: JSON.parse(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`) as unknown }],
      "commands[0]: 'headers' is not an object, at most 50 deep",
    ],
    [Array(2_001).fill({ do: 'restart' }), '2001 commands, and 2000 are the most'],
  ])('refuses a history: %j', (given, message) => {
    expect(() => readCommands(given)).toThrow(message);
  });
});
