import { setImmediate as soon } from 'node:timers/promises';
import { lastValueFrom, map, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { deadQueue, lettersHarness } from '../../../../../test/harnesses/letters-harness.js';
import { silentOutbox } from '../../engine/broker/index.js';
import type { RedriveRequest } from './redrive-request.js';
import type { RedriveTask } from './redrive-task.js';
import { Redrives } from './redrives.js';

const bodies = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index));

async function arrange() {
  const parts = await lettersHarness();
  const { clock } = parts;
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await soon();
  };
  return {
    ...parts,
    redrives: new Redrives(parts.backend, parts.letters),
    turns,
    async advance(milliseconds: number, step = milliseconds): Promise<void> {
      for (let passed = 0; passed < milliseconds; passed += step) {
        await turns();
        clock.advance(step);
      }
      await turns();
    },
  };
}

describe('a redrive', () => {
  it('sends letters to their origins, in order, and no faster than its rate', async () => {
    const { redrives, queue, die, advance } = await arrange();
    die(...bodies(5));
    const task = redrives.start({ from: deadQueue, perSecond: 2 });
    await advance(1);
    expect(queue('orders').payloads()).toEqual(['0']);
    await advance(999, 333);
    expect(queue('orders').payloads()).toEqual(['0', '1', '2']);
    await advance(5_000, 500);
    expect(queue('orders').payloads()).toEqual(bodies(5));
    expect(task.current).toEqual({
      state: 'done',
      total: 5,
      redriven: 5,
      left: 0,
      arrived: 0,
      destinations: { 'shop/order.created': 5 },
    });
    expect(await task.ended).toBe(task.current); // also for those who ask late
    expect(redrives.running).toEqual([]);
    expect(queue(deadQueue)).toMatchObject({ ready: 0, unacknowledged: 0, consumers: 0 });
  });

  it('ends at its limit, and takes no letter that it does not redrive', async () => {
    const { redrives, queue, die, advance } = await arrange();
    die(...bodies(6));
    const task = redrives.start({ from: deadQueue, perSecond: 1_000, limit: 2 });
    await advance(1);
    expect(queue(deadQueue)).toMatchObject({ ready: 4, unacknowledged: expect.any(Number) });
    await advance(1_000, 100);
    expect(task.current).toMatchObject({ state: 'done', total: 6, redriven: 2, left: 0 });
    expect(queue('orders').payloads()).toEqual(['0', '1']);
    expect(queue(deadQueue).payloads()).toEqual(['2', '3', '4', '5']);
    expect(await redrives.dryRun({ from: deadQueue, limit: 3 })).toMatchObject({
      destinations: { 'shop/order.created': 3 },
    });
  });

  it('takes only what is wanted; the rest keeps its place', async () => {
    const { redrives, queue, die, advance } = await arrange();
    die(...bodies(6));
    const odd: RedriveRequest<string> = { from: deadQueue, where: ({ payload }) => Number(payload) % 2 === 1 };
    const task = redrives.start({ ...odd, to: 'hospital' });
    await advance(1_000, 20);
    expect(task.current).toMatchObject({
      state: 'done',
      total: 6,
      redriven: 3,
      left: 3,
      destinations: { '/hospital': 3 },
    });
    expect(queue('hospital').payloads()).toEqual(['1', '3', '5']);
    expect(queue(deadQueue).payloads()).toEqual(['0', '2', '4']);
  });

  it('as a dry run counts what would go where, and moves nothing', async () => {
    const { redrives, queue, die } = await arrange();
    die(...bodies(3));
    const to = ({ payload }: { payload: unknown }) => (payload === '1' ? 'hospital' : undefined);
    const result = await redrives.dryRun({ from: deadQueue, to });
    expect(result.destinations).toEqual({ 'shop/order.created': 2, '/hospital': 1 });
    expect(result).toMatchObject({ state: 'done', total: 3, redriven: 0 });
    expect(queue(deadQueue)).toMatchObject({ ready: 3, unacknowledged: 0 });
    await expect(redrives.dryRun({ from: 'nowhere' })).rejects.toThrow(/there is no queue 'nowhere'/);
  });

  it('leaves what no queue would get', async () => {
    const { redrives, queue, die, advance } = await arrange();
    die('a');
    const task = redrives.start({ from: deadQueue, to: { exchange: 'shop', routingKey: 'nobody' } });
    await advance(100, 20);
    expect(task.current).toMatchObject({ state: 'done', redriven: 0, left: 1 });
    expect(queue(deadQueue).payloads()).toEqual(['a']);
  });

  it('to an exchange that is missing fails, names the exchange, and leaves every letter', async () => {
    const { redrives, queue, die, advance } = await arrange();
    die('a', 'b');
    for (const to of [{ exchange: 'gone', routingKey: 'k' }, () => ({ exchange: 'gone', routingKey: 'k' })]) {
      const task = redrives.start({ from: deadQueue, to });
      await advance(100, 20);
      expect(task.current).toMatchObject({ state: 'failed', total: 2, redriven: 0 });
      expect(task.current.error?.message).toContain("no exchange 'gone' in vhost '/'");
    }
    expect(queue(deadQueue).payloads()).toEqual(['a', 'b']);
  });

  it('to a queue that is missing fails, names the queue and the nearest one, and leaves every letter', async () => {
    const { redrives, queue, die, advance } = await arrange();
    die('a', 'b');
    const targets = ['hopsital', { exchange: '', routingKey: 'hopsital' }, () => 'hopsital'];
    for (const to of targets) {
      const task = redrives.start({ from: deadQueue, to });
      await advance(100, 20);
      expect(task.current).toMatchObject({ state: 'failed', total: 2, redriven: 0 });
      const text = "there is no queue 'hopsital' to redrive to; did you mean 'hospital'?";
      expect(task.current.error?.message).toBe(text);
      const { error, ...counts } = await redrives.dryRun({ from: deadQueue, to });
      expect(counts).toMatchObject({ state: 'done', total: 2, left: 2, destinations: {} });
      expect(error?.message).toBe(text);
    }
    expect(queue(deadQueue).payloads()).toEqual(['a', 'b']);
  });

  it('shows the message of its error as JSON, and of an exchange that is missing as well', async () => {
    const { redrives, die, advance } = await arrange();
    die('a');
    const jsonFor = async (to: RedriveRequest['to']): Promise<unknown> => {
      const task = redrives.start({ from: deadQueue, to });
      await advance(100, 20);
      return JSON.parse(JSON.stringify(task.current)).error;
    };
    const message = "there is no queue 'gone' to redrive to";
    expect(await jsonFor('gone')).toEqual({ name: 'UnknownQueueError', message });
    expect(await jsonFor({ exchange: 'gone', routingKey: 'k' })).toMatchObject({
      name: 'AmqpError',
      code: 404,
      message: "NOT_FOUND - no exchange 'gone' in vhost '/'",
    });
  });

  it('to a queue that is missing for some letters redrives the others, and its error names the queue', async () => {
    const { redrives, queue, die, advance } = await arrange();
    die('a', 'b');
    const to = ({ payload }: { payload: unknown }) => (payload === 'a' ? 'hospital' : 'gone');
    const task = redrives.start({ from: deadQueue, to });
    await advance(1_000, 20);
    expect(task.current).toMatchObject({ state: 'done', total: 2, redriven: 1, left: 1 });
    expect(task.current.error?.message).toBe("there is no queue 'gone' to redrive to");
    expect(queue(deadQueue).payloads()).toEqual(['b']);
  });

  it('to origins of which all are missing fails, and names an exchange', async () => {
    const { redrives, broker, queue, die, advance } = await arrange();
    die('a', 'b');
    broker.connect().openChannel(silentOutbox).deleteExchange('shop');
    const task = redrives.start({ from: deadQueue });
    await advance(100, 20);
    expect(task.current).toMatchObject({ state: 'failed', total: 2, redriven: 0, left: 2 });
    expect(task.current.error?.message).toContain("no exchange 'shop' in vhost '/'");
    expect(queue(deadQueue).payloads()).toEqual(['a', 'b']);
  });

  it('to origins of which one is missing redrives the others, and its error names the exchange', async () => {
    const { redrives, broker, queue, die, advance } = await arrange();
    die('a', 'b');
    broker.connect().openChannel(silentOutbox).deleteExchange('shop');
    const to = ({ payload }: { payload: unknown }) => (payload === 'a' ? 'hospital' : undefined);
    const task = redrives.start({ from: deadQueue, to });
    await advance(1_000, 20);
    expect(task.current).toMatchObject({ state: 'done', total: 2, redriven: 1, left: 1 });
    expect(task.current.error?.message).toContain("no exchange 'shop' in vhost '/'");
    expect(queue(deadQueue).payloads()).toEqual(['b']);
  });

  it('does not go round: what fails again while it runs is for another one', async () => {
    const { redrives, queue, die, reject, advance } = await arrange();
    die(...bodies(10));
    const task = redrives.start({ from: deadQueue, perSecond: 10, circuit: false });
    for (let step = 0; step < 30; step++) {
      await advance(100);
      reject('orders'); // everything fails at once
    }
    expect(task.current).toMatchObject({ state: 'done', redriven: 10 });
    expect(queue(deadQueue).ready).toBe(10);
  });

  it.each([
    ['what is unacknowledged', true],
    ['nothing of what is unacknowledged', false],
  ])('waits when what was redriven comes back, by a backend that tells %s', async (_, tells) => {
    const { redrives, die, reject, advance, backend } = await arrange();
    const status = backend.status.bind(backend);
    if (!tells) backend.status = async (name) => ({ ...(await status(name))!, unacknowledged: undefined });
    die(...bodies(40));
    const task = redrives.start({ from: deadQueue, perSecond: 10, circuit: { atLeast: 5, share: 0.5, pause: '1m' } });
    for (let step = 0; step < 8; step++) {
      await advance(100);
      reject('orders');
    }
    expect(task.current).toMatchObject({ state: 'waiting', redriven: 5, arrived: 4 });
    await advance(50_000, 10_000);
    expect(task.current).toMatchObject({ state: 'waiting', redriven: 5 });
    await advance(20_000, 1_000);
    expect(task.current.redriven).toBeGreaterThan(5); // nothing fails any more, so it gets through
    await advance(10_000, 100);
    expect(task.current).toMatchObject({ state: 'done', redriven: 40 });
  });

  it('waits at full speed as well: it looks before it goes on', async () => {
    const { redrives, die, reject, advance } = await arrange();
    die(...bodies(300));
    const task = redrives.start({ from: deadQueue, perSecond: Infinity });
    for (let step = 0; step < 12; step++) {
      await advance(100);
      reject('orders');
    }
    expect(task.current).toMatchObject({ state: 'waiting', redriven: 20, arrived: 20 });
    await advance(120_000, 1_000);
    expect(task.current).toMatchObject({ state: 'done', redriven: 300 });
    await redrives.close();
  });

  it('sees for a minute after its end what comes back', async () => {
    const { redrives, die, reject, advance, clock } = await arrange();
    die(...bodies(3));
    const task = redrives.start({ from: deadQueue, perSecond: Infinity });
    await advance(10);
    expect(task.current).toMatchObject({ state: 'done', redriven: 3, arrived: 0 });
    expect(task.watchedUntil?.getTime()).toBeGreaterThan(clock.now() + 59_000);
    reject('orders');
    await advance(1_000);
    expect(task.current).toMatchObject({ state: 'done', redriven: 3, arrived: 3 });
    await advance(60_000, 1_000);
    die('later');
    await advance(5_000, 1_000);
    expect([task.current.arrived, redrives.running, clock.nextWakeUp()]).toEqual([3, [], undefined]);
  });

  it('tells what comes back into several queues apart', async () => {
    const { redrives, queue, die, publish, advance } = await arrange();
    die(...bodies(30));
    for (const body of bodies(30)) publish(body, {}, { exchange: '', routingKey: 'graveyard' });
    const task = redrives.start({ from: [deadQueue, 'graveyard'], to: 'hospital', perSecond: 100 });
    await advance(2_000, 10);
    expect(task.current).toMatchObject({ state: 'done', redriven: 60, arrived: 0 });
    expect(queue('hospital').ready).toBe(60);
    await redrives.close();
  });

  it('can be paused, resumed, and cancelled', async () => {
    const { redrives, queue, die, advance } = await arrange();
    die(...bodies(10));
    const task = redrives.start({ from: deadQueue, perSecond: 1 });
    const states = lastValueFrom(
      task.progress.pipe(
        map(({ state }) => state),
        toArray(),
      ),
    );
    await advance(2_000, 500);
    const before = task.current.redriven;
    task.pause();
    await advance(10_000, 1_000);
    expect(task.current.redriven).toBeLessThanOrEqual(before + 1);
    task.resume();
    await advance(2_000, 500);
    expect(task.current.redriven).toBeGreaterThan(before);
    task.cancel();
    await advance(10_000, 1_000);
    const { redriven } = task.current;
    expect(task.current.state).toBe('cancelled');
    expect([queue('orders').ready, queue(deadQueue).ready]).toEqual([redriven, 10 - redriven]);
    expect(queue(deadQueue).payloads()).toEqual(bodies(10).slice(redriven));
    expect(new Set(await states)).toEqual(new Set(['running', 'paused', 'cancelled']));
  });

  it('of several queues takes one after the other', async () => {
    const { redrives, queue, die, publish, advance } = await arrange();
    die('a');
    publish('b', {}, { exchange: '', routingKey: 'graveyard' });
    const task = redrives.start({ from: [deadQueue, 'graveyard'], to: 'hospital' });
    await advance(200, 20);
    expect(task.current).toMatchObject({ state: 'done', total: 2, redriven: 2 });
    expect(queue('hospital').payloads()).toEqual(['a', 'b']);
  });
});

describe('to the letter, a redrive', () => {
  it('lets the next one go when its time has come, and not a millisecond before', async () => {
    const { redrives, queue, die, advance } = await arrange();
    die(...bodies(4));
    redrives.start({ from: deadQueue, perSecond: 2 });
    await advance(499);
    expect(queue('orders').ready).toBe(1);
    await advance(1);
    expect(queue('orders').ready).toBe(2);
    await advance(499);
    expect(queue('orders').ready).toBe(2);
    await advance(1);
    expect(queue('orders').ready).toBe(3);
    await redrives.close();
  });

  it('lets no letter go early after a pause, and no two at once', async () => {
    const { redrives, queue, die, advance } = await arrange();
    die(...bodies(6));
    const task = redrives.start({ from: deadQueue, perSecond: 2 });
    await advance(200);
    task.pause();
    task.resume();
    await advance(299);
    expect(queue('orders').ready).toBe(1);
    await advance(1);
    expect(queue('orders').ready).toBe(2);
    task.pause();
    await advance(10_000);
    task.resume();
    await advance(499, 499);
    expect(queue('orders').ready).toBeLessThanOrEqual(3);
    await redrives.close();
  });

  it('waits when just the share came back that may not', async () => {
    const { redrives, die, reject, advance } = await arrange();
    die(...bodies(20));
    const task = redrives.start({ from: deadQueue, perSecond: 10, circuit: { atLeast: 4, share: 0.5, pause: '1m' } });
    await advance(100, 50);
    reject('orders'); // two of the first four
    await advance(1_000, 100);
    expect(task.current).toMatchObject({ state: 'waiting', redriven: 4, arrived: 2 });
    await redrives.close();
  });

  it('stays paused when a caller pauses it while it waits by itself', async () => {
    const { redrives, die, reject, advance } = await arrange();
    die(...bodies(20));
    const task = redrives.start({ from: deadQueue, perSecond: 10, circuit: { atLeast: 2, share: 0.5, pause: '1m' } });
    await advance(50);
    reject('orders');
    await advance(500, 100);
    expect(task.current).toMatchObject({ state: 'waiting', redriven: 2 });
    task.pause();
    await advance(120_000, 10_000);
    expect(task.current).toMatchObject({ state: 'paused', redriven: 2 });
    task.resume();
    await advance(10_000, 100);
    expect(task.current).toMatchObject({ state: 'done', redriven: 20 });
  });

  it('tells each step as it was, whatever comes after', async () => {
    const { redrives, die, advance } = await arrange();
    die(...bodies(3));
    const task = redrives.start({ from: deadQueue, perSecond: 1_000 });
    const steps = lastValueFrom(task.progress.pipe(toArray()));
    await advance(100, 1);
    const told = (await steps).map(({ redriven, destinations }) => [redriven, destinations['shop/order.created'] ?? 0]);
    expect(told.at(-1)).toEqual([3, 3]);
    expect(told.every(([redriven, noted]) => redriven === noted)).toBe(true);
  });

  it('does not tell anew of all destinations for each letter', async () => {
    const { redrives, die } = await arrange();
    die(...bodies(400));
    const to: RedriveRequest['to'] = ({ payload }) => ({ exchange: 'shop', routingKey: `to ${String(payload)}` });
    const task = redrives.start({ from: deadQueue, dryRun: true, to });
    const steps = await lastValueFrom(task.progress.pipe(toArray()));
    expect(Object.keys(steps.at(-1)?.destinations ?? {})).toHaveLength(400);
    // Shown with each letter they would be 400; up to 16 of them are shown with each.
    expect(new Set(steps.map(({ destinations }) => destinations)).size).toBeLessThan(100);
  });

  it('that is ended while it waits for its time touches no further letter, and reports no failure', async () => {
    const { redrives, letters, queue, die, advance } = await arrange();
    const failures: unknown[] = [];
    letters.failures.subscribe((failure) => failures.push(failure));
    die(...bodies(3));
    redrives.start({ from: deadQueue, perSecond: 1 });
    await advance(10);
    await redrives.close();
    await advance(5_000, 500);
    expect([failures, redrives.running, queue('orders').ready]).toEqual([[], [], 1]);
    expect(queue(deadQueue)).toMatchObject({ ready: 2, unacknowledged: 0, consumers: 0 });
  });
});

describe('a schedule of redrives', () => {
  it('begins each so long after the end of the one before, until it is ended', async () => {
    const { redrives, queue, die, advance } = await arrange();
    const schedule = redrives.every('10s', { from: deadQueue });
    die('a');
    await advance(9_000, 1_000);
    expect(queue('orders').ready).toBe(0);
    await advance(2_000, 100);
    expect(queue('orders').payloads()).toEqual(['a']);
    die('b'); // takes along what was in orders
    await advance(11_000, 100);
    expect(queue('orders').payloads()).toEqual(['a', 'b']);
    schedule.unsubscribe();
    die('c');
    await advance(30_000, 1_000);
    expect(queue('orders').ready).toBe(0);
    expect(queue(deadQueue).ready).toBe(3);
  });
});

describe('a schedule of redrives that fail', () => {
  it('reports each error once until a redrive succeeds', async () => {
    const { backend, letters, broker, advance } = await arrange();
    const failures: [string, readonly string[]][] = [];
    const failed = (failure: unknown, queues: readonly string[]): void =>
      void failures.push([(failure as Error).message, queues]);
    const redrives = new Redrives(backend, letters, undefined, undefined, failed);
    const schedule = redrives.every('1s', { from: 'lost' });
    await advance(10_000, 500);
    const text = "there is no queue 'lost' to redrive from";
    expect(failures).toEqual([[text, ['lost']]]);
    const channel = broker.connect().openChannel(silentOutbox);
    channel.declareQueue('last');
    await advance(10_000, 500);
    expect(failures).toEqual([expect.anything(), [`${text}; did you mean 'last'?`, ['lost']]]);
    channel.declareQueue('lost');
    await advance(10_000, 500);
    expect(failures).toHaveLength(2);
    channel.deleteQueue('lost');
    await advance(10_000, 500);
    expect(failures).toHaveLength(3);
    schedule.unsubscribe();
  });
});

describe('the end of a schedule', () => {
  it('ends the redrive under way, which the application may observe from its start', async () => {
    const { redrives, queue, die, advance } = await arrange();
    const seen: RedriveTask[] = [];
    die(...bodies(5));
    const schedule = redrives.every('10s', { from: deadQueue, perSecond: 1 }, (task) => seen.push(task));
    await advance(11_500, 500);
    expect(seen.map(({ current }) => current.state)).toEqual(['running']);
    const { ready } = queue('orders');
    expect(ready).toBeGreaterThan(0);
    schedule.unsubscribe();
    await advance(10_000, 500);
    expect(seen.map(({ current }) => current.state)).toEqual(['cancelled']);
    expect([queue('orders').ready, queue(deadQueue).ready]).toEqual([ready, 5 - ready]);
  });
});

describe('an impossible redrive is refused', () => {
  it.each([0, 1, 15, '999ms'])('every %j', async (every) => {
    const { redrives } = await arrange();
    expect(() => redrives.every(every, { from: deadQueue })).toThrow(/^Redrives\.every: .* is less than 1000 ms/);
  });

  it.each<[string, RedriveRequest, RegExp]>([
    ['from nowhere', { from: [] }, /from names no queue/],
    ['at no rate', { from: 'q', perSecond: 0 }, /perSecond is 0/],
    ['with no limit', { from: 'q', limit: 0 }, /limit is 0; write a whole number above 0/],
    ['into the queue it comes from', { from: 'q', to: 'q' }, /to is 'q', the queue they come from/],
    ['with a circuit of nothing', { from: 'q', circuit: { share: 0 } }, /circuit.share is 0/],
    ['with a circuit of half a letter', { from: 'q', circuit: { atLeast: 0.5 } }, /circuit.atLeast is 0.5/],
    ['with a pause that is none', { from: 'q', circuit: { pause: 'soon' } }, /circuit.pause: 'soon' is not a duration/],
  ])('%s', async (_, request, text) => {
    const { redrives } = await arrange();
    expect(() => redrives.start(request)).toThrow(text);
    expect(() => redrives.every('1m', request)).toThrow(text);
  });
});
