import { lastValueFrom, map, mergeMap, tap, throwError, toArray } from 'rxjs';
import { setImmediate as soon } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { emptyTable, longstr } from '../../engine/message/index.js';
import { deadQueue, lettersHarness as arrange } from '../../../../../test/harnesses/letters-harness.js';
import { DeadLetters } from './dead-letters.js';
import type { ConsumedLetter } from './consumed-letter.js';

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await soon();
};

const queueNamed = (name: string) => ({
  exchanges: [],
  bindings: [],
  queues: [{ name, durable: true, exclusive: false, autoDelete: false, arguments: emptyTable }],
});

describe('the letters of several queues', () => {
  it('come in one stream, each queue with a prefetch of its own', async () => {
    const { letters, queue, die, publish } = await arrange();
    die('a', 'b', 'c');
    for (const body of ['x', 'y', 'z']) publish(body, {}, { exchange: '', routingKey: 'graveyard' });
    const taken: unknown[] = [];
    const stream = letters.from([deadQueue, 'graveyard', deadQueue], { prefetch: 2 });
    const subscription = stream.subscribe(({ queue: from, payload }) => taken.push([from, payload]));
    expect(taken).toEqual([
      [deadQueue, 'a'],
      [deadQueue, 'b'],
      ['graveyard', 'x'],
      ['graveyard', 'y'],
    ]);
    subscription.unsubscribe();
    expect([queue(deadQueue).payloads(), queue('graveyard').payloads()]).toEqual([
      ['a', 'b', 'c'],
      ['x', 'y', 'z'],
    ]);
  });

  it('fail together when one of the queues is not there', async () => {
    const { letters } = await arrange();
    await expect(lastValueFrom(letters.from([deadQueue, 'nowhere']))).rejects.toThrow(/no queue 'nowhere'/);
    await expect(lastValueFrom(letters.from('order.dead'))).rejects.toThrow(
      /no queue 'order\.dead' in vhost '\/'; did you mean 'orders\.dead'\?/,
    );
  });

  it('of a pattern include those declared later, and outlive those deleted', async () => {
    const { letters, backend, broker, clock, publish } = await arrange();
    await backend.declare(queueNamed('a.parked'));
    const taken: unknown[] = [];
    const work = tap((letter: ConsumedLetter) => {
      taken.push([letter.queue, letter.payload]);
      letter.ack();
    });
    const subscription = letters
      .from(/\.parked$/g, { pollInterval: '10s' })
      .pipe(work)
      .subscribe();
    await turns();
    publish('1', {}, { exchange: '', routingKey: 'a.parked' });
    await backend.declare(queueNamed('b.parked'));
    publish('2', {}, { exchange: '', routingKey: 'b.parked' });
    expect(taken).toEqual([['a.parked', '1']]);
    clock.advance(10_000);
    await turns();
    expect(taken.slice(1)).toEqual([['b.parked', '2']]);
    broker.virtualHost('/').removeQueue(broker.virtualHost('/').queues.get('a.parked')!);
    clock.advance(10_000);
    await turns();
    await backend.declare(queueNamed('a.parked'));
    publish('3', {}, { exchange: '', routingKey: 'a.parked' });
    clock.advance(10_000);
    await turns();
    expect(taken.slice(2)).toEqual([['a.parked', '3']]);
    subscription.unsubscribe();
    await turns();
    expect(broker.virtualHost('/').queues.get('b.parked')?.consumers.count).toBe(0);
  });
});

it('rule Q8: letters that a pattern has too long come again, although their consumer was cancelled', async () => {
  const { letters, backend, clock, publish } = await arrange();
  const [parked] = queueNamed('a.parked').queues;
  const quorum = new Map([['x-queue-type', longstr('quorum')]]);
  await backend.declare({ exchanges: [], bindings: [], queues: [{ ...parked!, arguments: quorum }] });
  publish('1', {}, { exchange: '', routingKey: 'a.parked' });
  const taken: unknown[] = [];
  const subscription = letters.from(/\.parked$/).subscribe(({ payload }) => taken.push(payload));
  await turns();
  clock.advance(30 * 60_000);
  await turns();
  clock.advance(5_000);
  await turns();
  expect(taken).toEqual(['1', '1']);
  subscription.unsubscribe();
});

describe('a replay', () => {
  it('shows what lies there, in order, and changes nothing', async () => {
    const { letters, queue, die } = await arrange();
    const bodies = Array.from({ length: 250 }, (_, index) => String(index));
    die(...bodies);
    const before = queue(deadQueue).messages();
    const seen = letters.replay<string>(deadQueue).pipe(
      map(({ payload, deaths, workQueue, origin }) => ({ payload, reason: deaths[0]?.reason, workQueue, origin })),
      toArray(),
    );
    const all = await lastValueFrom(seen);
    expect(all.map(({ payload }) => payload)).toEqual(bodies);
    expect(all[0]).toEqual({
      payload: '0',
      reason: 'rejected',
      workQueue: 'orders',
      origin: { exchange: 'shop', routingKey: 'order.created' },
    });
    expect(queue(deadQueue).messages()).toEqual(before);
    expect(queue(deadQueue)).toMatchObject({ ready: 250, unacknowledged: 0, consumers: 0 });
  });

  it('of a queue that is not there fails', async () => {
    const { letters } = await arrange();
    await expect(lastValueFrom(letters.replay('nowhere'))).rejects.toThrow(/no queue 'nowhere'/);
    await expect(lastValueFrom(letters.replay('order.dead'))).rejects.toThrow(/did you mean 'orders\.dead'\?/);
  });
});

describe('a pipeline that is run', () => {
  it('begins anew after a failure, loses nothing, and says why', async () => {
    const { backend, clock, queue, die } = await arrange();
    const reported: unknown[] = [];
    const letters = new DeadLetters(backend, { report: (failure, queues) => reported.push([failure, queues]) });
    die('good', 'bad', 'late');
    let isBroken = true;
    const done: unknown[] = [];
    const running = letters.run<string>(deadQueue, (all) =>
      all.pipe(
        mergeMap(async (letter) => {
          if (isBroken && letter.payload === 'bad') throw new Error('cannot');
          done.push(letter.payload);
          letter.ack();
        }),
      ),
    );
    await turns();
    expect(reported).toEqual([[new Error('cannot'), deadQueue]]);
    expect(queue(deadQueue).payloads()[0]).toBe('bad');
    isBroken = false;
    clock.advance(1_000);
    await turns();
    expect(new Set(done)).toEqual(new Set(['good', 'bad', 'late']));
    expect(queue(deadQueue).ready).toBe(0);
    running.unsubscribe();
    expect(queue(deadQueue).consumers).toBe(0);
  });

  it.each<[string, number]>([
    ['a second', 1_000],
    ['as long as the option says', 30_000],
  ])('begins anew after %s, not before', async (_, pause) => {
    const { backend, clock, die } = await arrange();
    die('bad');
    let begun = 0;
    const options = pause === 1_000 ? {} : { pause };
    const running = new DeadLetters(backend).run(
      deadQueue,
      (all) => {
        begun++;
        return all.pipe(mergeMap(() => throwError(() => new Error('cannot'))));
      },
      options,
    );
    await turns();
    clock.advance(pause - 1);
    await turns();
    expect(begun).toBe(1);
    clock.advance(1);
    await turns();
    expect(begun).toBe(2);
    running.unsubscribe();
  });
});
