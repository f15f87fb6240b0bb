import { describe, expect, it } from 'vitest';
import type { Command } from './command.js';
import { World } from './world.js';

const topology = {
  exchanges: [{ name: 'dlx', type: 'fanout' }],
  queues: [{ name: 'work', arguments: { 'x-dead-letter-exchange': 'dlx', 'x-message-ttl': 1_000 } }, { name: 'dead' }],
  bindings: [{ source: 'dlx', destination: 'dead' }],
};

describe('a world', () => {
  it('reports the way of a message that expires', () => {
    const world = new World({ topology, profile: '3.10' });
    world.run({ do: 'publish', key: 'work', body: 'a' });
    expect(world.state.queues[0]?.messages[0]?.expiresIn).toBe(1_000);
    expect(world.nextEvent()).toBe(1_000);
    world.advance(1_000);
    expect(world.events.map(({ kind, at }) => `${kind} ${at}`)).toEqual([
      'published 0',
      'enqueued 0',
      'died 1000',
      'enqueued 1000',
    ]);
    expect(world.events[3]).toMatchObject({ queue: 'dead', exchange: 'dlx', key: 'work', from: { queue: 'work' } });
    expect(world.state.queues[1]?.messages[0]?.deaths).toMatchObject([{ queue: 'work', reason: 'expired', count: 1 }]);
    expect(world.nextEvent()).toBeUndefined();
  });

  it('is the same when its commands are replayed, also up to an earlier moment', () => {
    const commands: readonly Command[] = [
      { do: 'publish', key: 'work', body: 'a', count: 3 },
      { do: 'consume', queue: 'work', consumer: 'c', prefetch: 2 },
      { do: 'reject', consumer: 'c' },
      { do: 'wait', ms: 1_500 },
      { do: 'ack', consumer: 'c' },
      { do: 'restart' },
    ];
    const setup = { topology, profile: '4' } as const;
    const one = World.replay(setup, commands);
    const other = World.replay(setup, JSON.parse(JSON.stringify(one.commands)) as readonly Command[]);
    expect(other.state).toEqual(one.state);
    expect(other.events).toEqual(one.events);
    expect(one.events.map(({ kind }) => kind)).not.toContain('refused');
    expect(World.replay(setup, one.commands, 500).now).toBe(500);
  });
});
