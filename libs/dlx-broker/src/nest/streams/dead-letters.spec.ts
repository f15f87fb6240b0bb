import { concatMap, EMPTY, firstValueFrom, lastValueFrom, mergeMap, of, take, tap, throwError, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { silentOutbox } from '../../engine/broker/index.js';
import { UndecodablePayloadError } from '../../platform/history/index.js';
import { waitQueueTopology } from '../retry/index.js';

import { deadQueue, lettersHarness as arrange } from '../../../../../test/harnesses/letters-harness.js';
import type { ConsumedLetter } from './consumed-letter.js';
import { DeadLetters } from './dead-letters.js';
import { ConsumerCancelledError, LetterSettledError } from './letter-errors.js';

describe('a stream of dead letters', () => {
  it('is cold: it consumes from subscribe to unsubscribe', async () => {
    const { letters, queue, die } = await arrange();
    die('a');
    const stream = letters.from(deadQueue);
    expect(queue(deadQueue)).toMatchObject({ consumers: 0, ready: 1 });
    const subscription = stream.subscribe();
    expect(queue(deadQueue)).toMatchObject({ consumers: 1, ready: 0, unacknowledged: 1 });
    subscription.unsubscribe();
    expect(queue(deadQueue)).toMatchObject({ consumers: 0, ready: 1, unacknowledged: 0 });
  });

  it('holds no more in hand than its prefetch, in the order of the deaths (rules J1, J4)', async () => {
    const { letters, queue, die } = await arrange();
    die('a', 'b', 'c', 'd');
    const got: ConsumedLetter[] = [];
    letters.from(deadQueue, { prefetch: 2 }).subscribe((letter) => got.push(letter));
    expect(got.map(({ payload }) => payload)).toEqual(['a', 'b']);
    expect(queue(deadQueue)).toMatchObject({ ready: 2, unacknowledged: 2 });
    got[0]!.ack();
    expect(got.map(({ payload }) => payload)).toEqual(['a', 'b', 'c']);
  });

  it('gives back what is unsettled, in its original order, when it is unsubscribed (rule J2)', async () => {
    const { letters, queue, die } = await arrange();
    die('a', 'b', 'c');
    const got: ConsumedLetter[] = [];
    const subscription = letters.from(deadQueue).subscribe((letter) => got.push(letter));
    got[1]!.ack();
    subscription.unsubscribe();
    expect(queue(deadQueue).payloads()).toEqual(['a', 'c']);
    expect(
      queue(deadQueue)
        .messages()
        .every(({ redelivered }) => redelivered),
    ).toBe(true);
    expect(got[0]!.open).toBe(false);
    expect(() => got[0]!.ack()).toThrow(/its stream ended/);
  });

  it('loses nothing when an operator throws', async () => {
    const { letters, queue, die } = await arrange();
    die('a', 'b', 'c');
    const broken = letters.from(deadQueue).pipe(
      tap((letter) => {
        if (letter.payload === 'b') throw new Error('bug');
        letter.ack();
      }),
    );
    await expect(lastValueFrom(broken)).rejects.toThrow('bug');
    expect(queue(deadQueue).payloads()).toEqual(['b', 'c']);
    expect(queue(deadQueue).consumers).toBe(0);
  });

  it('loses nothing when an inner stream fails while others are under way', async () => {
    const { letters, queue, die } = await arrange();
    die('a', 'b', 'c');
    const never = new Promise<string>(() => {});
    const broken = letters
      .from(deadQueue)
      .pipe(mergeMap(({ payload }) => (payload === 'c' ? throwError(() => new Error('bug')) : never)));
    await expect(lastValueFrom(broken)).rejects.toThrow('bug');
    expect(queue(deadQueue).payloads()).toEqual(['a', 'b', 'c']);
  });

  it('may end on its very first letter, which goes back', async () => {
    const { letters, queue, die } = await arrange();
    die('a', 'b', 'c');
    const letter = await firstValueFrom(letters.from(deadQueue));
    expect(letter.payload).toBe('a');
    expect(queue(deadQueue)).toMatchObject({ consumers: 0, unacknowledged: 0 });
    expect(queue(deadQueue).payloads()).toEqual(['a', 'b', 'c']);
  });

  it('lets the work be done before take ends it', async () => {
    const { letters, queue, die } = await arrange();
    die('a', 'b', 'c');
    const done = letters.from<string>(deadQueue, { prefetch: 1 }).pipe(
      concatMap(async (letter) => {
        await Promise.resolve();
        letter.ack();
        return letter.payload;
      }),
      take(2),
      toArray(),
    );
    expect(await lastValueFrom(done)).toEqual(['a', 'b']);
    expect(queue(deadQueue).payloads()).toEqual(['c']);
  });

  it('serves two subscribers as two consumers (rule J5)', async () => {
    const { letters, die } = await arrange();
    const stream = letters.from(deadQueue);
    const [one, two]: [unknown[], unknown[]] = [[], []];
    stream.subscribe(({ payload }) => one.push(payload));
    stream.subscribe(({ payload }) => two.push(payload));
    die('a', 'b', 'c', 'd');
    expect([one, two]).toEqual([
      ['a', 'c'],
      ['b', 'd'],
    ]);
  });

  it('fails when its queue is deleted (rule Q6), and when there is none', async () => {
    const { letters, broker } = await arrange();
    const failed = lastValueFrom(letters.from(deadQueue));
    const vhost = broker.virtualHosts.get('/')!;
    broker.connect().openChannel(silentOutbox).deleteQueue(deadQueue);
    await expect(failed).rejects.toBeInstanceOf(ConsumerCancelledError);
    expect(vhost.queues.has(deadQueue)).toBe(false);
    await expect(lastValueFrom(letters.from('nowhere'))).rejects.toThrow();
  });

  it('refuses impossible options', async () => {
    const { letters } = await arrange();
    for (const prefetch of [0, -1, 1.5, 65_536]) {
      expect(() => letters.from(deadQueue, { prefetch })).toThrow(
        /prefetch: .* is not (between 1 and 65535|a whole number)/,
      );
    }
    expect(() => letters.from(deadQueue, { prefetch: '10' as never })).toThrow(
      "DeadLetters.from: prefetch: '10' is a string; write the number 10",
    );
  });
});

describe('a dead letter', () => {
  it('tells how it died (rules H5, H8)', async () => {
    const { letters, clock, die } = await arrange();
    const time = new Date(Math.floor(clock.now() / 1_000) * 1_000);
    die('a');
    const letter = await firstValueFrom(letters.from(deadQueue));
    const death = { queue: 'orders', reason: 'rejected', exchange: 'shop', routingKeys: ['order.created'], count: 1 };
    expect(letter.deaths).toEqual([{ ...death, time }]);
    expect(letter.firstDeath).toEqual({ ...death, time });
    expect(letter).toMatchObject({ queue: deadQueue, workQueue: 'orders', failures: 1, redrives: 0 });
    expect(letter.origin).toEqual({ exchange: 'shop', routingKey: 'order.created' });
  });

  it('decodes its body by its content type, and survives one it cannot decode', async () => {
    const { letters, deadWith } = await arrange();
    const bytes = (text: string) => Buffer.from(text);
    const cases: [string | undefined, Uint8Array, unknown][] = [
      ['application/json', bytes('{"a":[1]}'), { a: [1] }],
      ['application/problem+json; charset=utf-8', bytes('null'), null],
      ['text/plain; charset=iso-8859-1', new Uint8Array([0xe9]), 'é'],
      ['image/png', bytes('x'), bytes('x')],
      ['application/octet-stream', bytes(''), bytes('')],
      [undefined, bytes('{}'), {}],
      [undefined, bytes(''), undefined],
      ['text/plain', bytes(''), ''],
      [undefined, bytes('x'), expect.any(UndecodablePayloadError)],
      ['application/json', bytes('{"a":'), expect.any(UndecodablePayloadError)],
      ['text/plain', new Uint8Array([0xff]), expect.any(UndecodablePayloadError)],
      ['text/plain; charset=klingon', bytes('x'), expect.any(UndecodablePayloadError)],
    ];
    for (const [contentType, body] of cases) deadWith({ contentType }, body);
    deadWith({ contentType: 'application/json', contentEncoding: 'gzip' }, bytes('{}'));
    const payloads = letters.from(deadQueue).pipe(
      tap((letter) => letter.ack()),
      take(cases.length + 1),
    );
    const read = (await lastValueFrom(payloads.pipe(toArray()))).map(({ payload }) => payload);
    expect(read.slice(0, -1)).toEqual(cases.map(([, , payload]) => payload));
    expect(read.at(-1)).toMatchObject({ message: expect.stringContaining('gzip'), body: bytes('{}') });
  });

  it('is settled once: a second time is an error and has no effect', async () => {
    const { letters, queue, die, take: grab } = await arrange();
    die('a', 'b');
    const [first, second] = await grab(letters, 2);
    first!.requeue();
    expect(first!.open).toBe(false);
    expect(() => first!.ack()).toThrow(LetterSettledError);
    expect(() => first!.reject()).toThrow('it is settled already');
    await expect(first!.redrive('orders')).rejects.toBeInstanceOf(LetterSettledError);
    await second!.redrive('orders');
    expect(() => second!.requeue()).toThrow(LetterSettledError);
    expect(queue('orders').payloads()).toEqual(['b']);
    expect(queue(deadQueue).unacknowledged).toBe(1); // the first, delivered once more
  });

  it('acked is gone; rejected goes to the dead-letter exchange of its queue', async () => {
    const { letters, queue, die, take: grab } = await arrange();
    die('a', 'b');
    const [first, second] = await grab(letters, 2);
    first!.ack();
    second!.reject();
    expect(queue(deadQueue)).toMatchObject({ ready: 0, unacknowledged: 0 });
    expect(queue('graveyard').payloads()).toEqual(['b']);
  });

  it('redriven goes to where it was published at first, as new', async () => {
    const { letters, queue, die, take: grab } = await arrange();
    die('a');
    const [letter] = await grab(letters, 1);
    await letter!.redrive();
    expect(queue('orders').messages()).toMatchObject([
      { payload: 'a', exchange: 'shop', routingKey: 'order.created', deaths: [], properties: { deliveryMode: 2 } },
    ]);
    expect(queue(deadQueue).unacknowledged).toBe(0);
  });

  it('stays in hand when its redrive is unroutable, and the failure is reported', async () => {
    const { letters, queue, die, take: grab } = await arrange();
    die('a');
    const failures: unknown[] = [];
    letters.failures.subscribe(({ letter, failure }) => failures.push([letter, failure]));
    const [letter] = await grab(letters, 1);
    await expect(letter!.redrive('nowhere')).rejects.toThrow(/NO_ROUTE|nowhere|unroutable/i);
    await expect(letter!.redrive({ exchange: 'no such exchange', routingKey: '' })).rejects.toThrow();
    expect(failures).toHaveLength(2);
    expect(letter!.open).toBe(true);
    expect(queue(deadQueue).unacknowledged).toBe(1);
    await letter!.redrive('orders');
    expect(queue('orders').payloads()).toEqual(['a']);
  });

  it('retried waits in a queue declared on demand, and returns as one more attempt', async () => {
    const { letters, clock, queue, die, take: grab } = await arrange();
    die('a');
    expect(queue('wait.30000').exists).toBe(false);
    const [letter] = await grab(letters, 1);
    await letter!.retryIn('30s');
    expect(queue('wait.30000').payloads()).toEqual(['a']);
    clock.advance(29_999);
    expect(queue('orders').ready).toBe(0);
    clock.advance(1);
    const [back] = queue('orders').messages();
    expect(back).toMatchObject({ payload: 'a', properties: { expiration: undefined } });
    expect(back!.headers['dlx-attempt']).toBe(2);
    expect(back!.deaths).toMatchObject([
      { queue: 'wait.30000', reason: 'expired' },
      { queue: 'orders', reason: 'rejected', count: 1 },
    ]);
  });

  it('stays in hand when its wait queue cannot be declared, and can be retried when it can', async () => {
    const { letters, broker, queue, backend, die, take: grab } = await arrange();
    await backend.declare({
      ...waitQueueTopology([]),
      queues: [{ ...waitQueueTopology([10]).queues[0]!, arguments: new Map() }],
    });
    die('a');
    const [letter] = await grab(letters, 1);
    await expect(letter!.retryIn(10)).rejects.toThrow(/wait\.10/);
    broker.connect().openChannel(silentOutbox).deleteQueue('wait.10');
    await letter!.retryIn(10);
    expect(queue('wait.10').payloads()).toEqual(['a']);
  });

  it('goes back, and is not retried too, when its stream ends while the wait queue is being declared', async () => {
    const { letters, queue, die } = await arrange();
    die('a');
    let retried: Promise<void> | undefined;
    const subscription = letters.from(deadQueue).subscribe((letter) => (retried = letter.retryIn(10)));
    subscription.unsubscribe();
    await expect(retried).rejects.toThrow(/its stream ended/);
    expect(queue('wait.10').ready).toBe(0);
    expect(queue(deadQueue).payloads()).toEqual(['a']);
  });

  it('refuses a delay that is none, and stays in hand', async () => {
    const { letters, die, take: grab } = await arrange();
    die('a');
    const [letter] = await grab(letters, 1);
    for (const delay of [-1, 'soon', 400_000_000_000]) await expect(letter!.retryIn(delay)).rejects.toThrow(/retryIn/);
    expect(letter!.open).toBe(true);
  });

  it('is never retried early, also when there are 64 different delays', async () => {
    const { letters, queue, die, take: grab } = await arrange();
    die(...Array.from({ length: 65 }, (_, index) => `m${index}`));
    const all = await grab(letters, 65, 100);
    for (const [index, letter] of all.slice(0, 64).entries()) await letter.retryIn(1_000 + index);
    await all[64]!.retryIn(5_001);
    expect(queue('wait.5001').exists).toBe(false);
    expect(queue('wait.6300').payloads()).toEqual(['m64']);
  });

  it('is retried at once when it shall not wait', async () => {
    const { letters, queue, die, take: grab } = await arrange();
    die('a');
    await (await grab(letters, 1))[0]!.retryIn(0);
    expect(queue('orders').payloads()).toEqual(['a']);
  });

  it('parked goes to the parking lot of its work queue, with its history in headers', async () => {
    const { letters, clock, queue, die, take: grab } = await arrange();
    die('a', 'b');
    const [first, second] = await grab(letters, 2);
    await first!.park();
    await second!.park('hospital');
    expect(queue('hospital').payloads()).toEqual(['b']);
    const [parked] = queue('orders.parked').messages();
    expect(parked).toMatchObject({ payload: 'a', deaths: [{ queue: 'orders', reason: 'rejected', count: 1 }] });
    expect({ ...parked!.headers }).toEqual({
      'dlx-deaths': [expect.objectContaining({ queue: 'orders', reason: 'rejected' })],
      'dlx-attempt': 1,
      'dlx-queue': 'orders',
      'dlx-first-exchange': 'shop',
      'dlx-first-routing-key': 'order.created',
      'dlx-failing-since': clock.now(),
      'dlx-parked': true,
    });
    await expect((await grab(letters, 1, 10, 'hospital'))[0]!.park('hospital')).rejects.toThrow(/already/);
  });

  it('tells those who listen what became of it, once the broker has its successor', async () => {
    const { backend, die, take } = await arrange();
    const told: unknown[] = [];
    const letters = new DeadLetters(backend, {
      settled: ({ body }, what) => told.push([String(Buffer.from(body)), what]),
    });
    die('ack', 'reject', 'redrive', 'retry', 'park');
    const [acked, rejected, redriven, retried, parked] = await take(letters, 5);
    acked!.ack();
    rejected!.reject();
    await redriven!.redrive();
    await retried!.retryIn(1_000);
    await parked!.park();
    expect(told).toEqual([
      ['ack', { kind: 'acked' }],
      ['reject', { kind: 'rejected' }],
      ['redrive', { kind: 'redriven', to: 'shop/order.created' }],
      ['retry', { kind: 'retried', delay: 1_000 }],
      ['park', { kind: 'parked', to: 'orders.parked' }],
    ]);
  });

  it('whose settlement fails unobserved does not end the process', async () => {
    const { letters, die } = await arrange();
    die('a');
    const reported: unknown[] = [];
    letters.failures.subscribe(({ failure }) => reported.push(failure));
    letters
      .from(deadQueue)
      .pipe(
        tap((letter) => void letter.redrive('nowhere')),
        mergeMap(() => EMPTY),
      )
      .subscribe();
    await lastValueFrom(of(1).pipe(mergeMap(async () => {})));
    expect(reported).toHaveLength(1);
  });
});
