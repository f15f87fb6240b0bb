import { setImmediate as soon } from 'node:timers/promises';
import { EMPTY, lastValueFrom, type Observable } from 'rxjs';
import { expect, it } from 'vitest';
import { deadQueue, lettersHarness } from '../../../../../test/harnesses/letters-harness.js';
import { DeadLetters } from './dead-letters.js';
import type { RedriveTarget } from './given.js';
import { tapDeaths, where, whereDecoded, whereReason } from './passing.js';
import { Redrives } from './redrives.js';
import { parkWhen, redriveTo, retryWithBackoff, throttleRedrive } from './settling.js';

const later = (async () => false) as unknown as () => boolean;
const fails = (): never => {
  throw new Error('oops');
};

it.each([
  ['where', where(later)],
  ['parkWhen', parkWhen(later)],
  ['redriveTo', redriveTo((async () => 'hospital') as unknown as () => string)],
])('%s: a function that answers a promise fails the stream, and its letter goes back', async (_, operator) => {
  const { letters, queue, die } = await lettersHarness();
  die('a');
  await expect(lastValueFrom(letters.from(deadQueue).pipe(operator))).rejects.toThrow(/answered a promise/);
  expect(queue(deadQueue)).toMatchObject({ ready: 1, unacknowledged: 0 });
});

it.each([
  ['where', { where: later }, /redrive: where answered a promise/],
  ['to', { to: (async () => 'hospital') as unknown as () => string }, /redrive: to answered a promise/],
  ['where', { where: fails }, /oops/],
  ['to', { to: fails }, /oops/],
])('redrive: a %s that fails or answers a promise fails the task, and moves nothing', async (_, options, text) => {
  const { backend, letters, queue, die } = await lettersHarness();
  die('a');
  const { state, error } = await new Redrives(backend, letters).start({ from: deadQueue, ...options }).ended;
  expect([state, String(error)]).toEqual(['failed', expect.stringMatching(text)]);
  expect(queue(deadQueue)).toMatchObject({ ready: 1, unacknowledged: 0 });
});

it('misspelt options are refused', async () => {
  const { letters } = await lettersHarness();
  const options: object = { prefech: 1 };
  expect(() => letters.from(deadQueue, options)).toThrow(/did you mean 'prefetch'/);
  expect(() => letters.run(deadQueue, (all) => all, options)).toThrow(/did you mean 'prefetch'/);
  expect(() => throttleRedrive({ perSecond: 1, ...({ too: 'x' } as object) })).toThrow(/did you mean 'to'/);
  for (const operator of [where, whereDecoded, whereReason] as unknown as ((...given: unknown[]) => unknown)[]) {
    const first =
      operator === (whereDecoded as unknown) ? [] : operator === (where as unknown) ? [fails] : ['rejected'];
    expect(() => operator(...first, { otherwize: 'ack' })).toThrow(/did you mean 'otherwise'/);
    expect(() => operator(...first, { otherwise: 'akc' })).toThrow(/otherwise.*leave, ack, reject, requeue/);
    expect(() => operator(...first, 'ack')).toThrow(/is not an object of options/);
  }
  expect(() => tapDeaths(fails, { whithin: '1s' } as object)).toThrow(/did you mean 'within'/);
});

it('a pipeline that returns a promise is refused, and nothing is consumed', async () => {
  const { letters, queue, clock } = await lettersHarness();
  const run = (): unknown =>
    letters.run(
      deadQueue,
      wrong(async (all: Observable<unknown>) => all),
    );
  expect(run).toThrow('DeadLetters.run: pipeline answered a promise; return the observable itself');
  expect([queue(deadQueue).consumers, clock.nextWakeUp()]).toEqual([0, undefined]);
});

const wrong = (value: unknown): never => value as never;

it.each<[string, () => unknown, RegExp]>([
  ['where', () => where(wrong('yes')), /where: the test: 'yes' is not a function/],
  ['parkWhen', () => parkWhen(wrong(true)), /parkWhen: the test: true is not a function/],
  ['parkWhen', () => parkWhen(() => true, wrong(5)), /parkWhen: queue: 5 is not the name of a queue/],
  ['tapDeaths', () => tapDeaths(wrong(undefined)), /tapDeaths: observe: undefined is not a function/],
  ['whereReason', () => whereReason(wrong('reject')), /whereReason.*rejected, expired, maxlen, delivery_limit/],
  ['whereReason', () => whereReason([]), /whereReason/],
  ['redriveTo', () => redriveTo(wrong(5)), /redriveTo: to: 5 is no target/],
  ['redriveTo', () => EMPTY.pipe(wrong(redriveTo)), /^redriveTo has no parentheses; write pipe\(redriveTo\(\)\)$/],
  ['whereDecoded', () => EMPTY.pipe(wrong(whereDecoded)), /^whereDecoded has no parentheses/],
  ['redriveTo', () => redriveTo(''), /redriveTo: to: '' is no target/],
  ['redriveTo', () => redriveTo(wrong({ exchange: 'x' })), /redriveTo: to: .* is no target/],
  ['redriveTo', () => redriveTo(wrong({ exchange: 'x', routingKy: 'y' })), /redriveTo: to: .* is no target/],
  [
    'throttleRedrive',
    () => throttleRedrive({ perSecond: 1, to: wrong(null) }),
    /throttleRedrive: to: null is no target/,
  ],
  ['throttleRedrive', () => throttleRedrive({ perSecond: wrong('5') }), /perSecond is '5'/],
  [
    'retryWithBackoff',
    () => retryWithBackoff({ attempts: 2 }, wrong(0.5)),
    /retryWithBackoff: random: 0.5 is not a function/,
  ],
  ['within', () => tapDeaths(fails, { within: 0 }), /tapDeaths: within/],
])('%s refuses what can never work, when it is made', (_, make, text) => {
  expect(make).toThrow(text);
});

it('from, run and replay refuse what names no queue, and a pipeline that is none', async () => {
  const { letters } = await lettersHarness();
  for (const queues of ['', [], [''], [5], undefined, { name: 'orders' }]) {
    expect(() => letters.from(wrong(queues))).toThrow(/DeadLetters.from: queues/);
    expect(() => letters.run(wrong(queues), (all) => all)).toThrow(/queues/);
  }
  expect(() => letters.replay(wrong(['orders']))).toThrow(/DeadLetters.replay: queue/);
  expect(() => letters.run(deadQueue, wrong('redriveTo'))).toThrow(/DeadLetters.run: pipeline/);
});

it.each<[string, RedriveTarget]>([
  ['a number', wrong(5)],
  ['null', wrong(null)],
  ['an address without a key', wrong({ exchange: 'shop' })],
  ['no name', ''],
])('redriveTo: a function that answers %s fails the stream, and its letter goes back', async (_, to) => {
  const { backend, letters, queue, die } = await lettersHarness();
  die('a');
  const stream = letters.from(deadQueue).pipe(redriveTo(() => to));
  await expect(lastValueFrom(stream)).rejects.toThrow(/is no target/);
  expect(queue(deadQueue)).toMatchObject({ ready: 1, unacknowledged: 0 });
  const task = new Redrives(backend, letters).start({ from: deadQueue, to: () => to });
  expect(await task.ended).toMatchObject({ state: 'failed', redriven: 0 });
  expect(() => new Redrives(backend, letters).start({ from: deadQueue, to })).toThrow(/is no target/);
  expect(queue(deadQueue)).toMatchObject({ ready: 1, unacknowledged: 0 });
});

it('a letter refuses a target that is none, and is in hand again', async () => {
  const { letters, die, take } = await lettersHarness();
  die('a');
  const [letter] = await take(letters, 1);
  await expect(letter!.redrive(wrong(null))).rejects.toThrow(/redrive: null is no target/);
  await expect(letter!.park(wrong(7))).rejects.toThrow(/park: 7 is not the name of a queue/);
  expect(letter!.open).toBe(true);
});

it('a pattern looks for queues no longer after the end', async () => {
  const { letters, clock } = await lettersHarness();
  letters.from(/dead$/).subscribe();
  for (let turn = 0; turn < 5; turn++) await soon();
  expect(clock.nextWakeUp()).toBeDefined();
  letters.close();
  expect(clock.nextWakeUp()).toBeUndefined();
});

it.each([
  ['where, otherwise', where(() => false, { otherwise: async () => fails() })],
  ['tapDeaths', tapDeaths(async () => fails())],
])('%s: what an asynchronous function rejects with fails the stream, and its letter goes back', async (_, operator) => {
  const { letters, queue, die } = await lettersHarness();
  die('a');
  await expect(lastValueFrom(letters.from(deadQueue).pipe(operator))).rejects.toThrow(/oops/);
  expect(queue(deadQueue)).toMatchObject({ ready: 1, unacknowledged: 0 });
});

it.each([
  ['where, otherwise', where(() => false, { otherwise: () => new Promise(() => undefined) })],
  ['tapDeaths', tapDeaths(() => new Promise(() => undefined))],
])(
  '%s: a function that never answers fails the stream after a minute, and its letter goes back',
  async (_, operator) => {
    const { clock, letters, queue, die } = await lettersHarness();
    die('a');
    const failed = expect(lastValueFrom(letters.from(deadQueue).pipe(operator))).rejects.toThrow(
      /did not answer within 60000 ms/,
    );
    clock.advance(59_999);
    expect(queue(deadQueue)).toMatchObject({ ready: 0, unacknowledged: 1 });
    clock.advance(1);
    await failed;
    expect(queue(deadQueue)).toMatchObject({ ready: 1, unacknowledged: 0 });
    expect(clock.nextWakeUp()).toBeUndefined();
  },
);

it('how long a function may take is an option, and what answers in time or is over leaves no timer behind', async () => {
  const { clock, letters, die } = await lettersHarness();
  const answers: (() => void)[] = [];
  const answer = (): Promise<void> => new Promise((resolve) => void answers.push(resolve));
  const read = (options: object) => letters.from(deadQueue).pipe(tapDeaths(answer, options)).subscribe();
  die('a');
  const unlimited = read({ within: false });
  const idle = clock.nextWakeUp(); // of the broker itself, for an unsettled delivery
  unlimited.unsubscribe();
  const one = read({ within: '5s' });
  expect(clock.nextWakeUp()).toBe(clock.now() + 5_000);
  answers.at(-1)!();
  await soon();
  expect(clock.nextWakeUp()).toBe(idle);
  one.unsubscribe();
  const two = read({ within: '5s' });
  expect(clock.nextWakeUp()).toBe(clock.now() + 5_000);
  two.unsubscribe();
  expect(clock.nextWakeUp()).not.toBe(clock.now() + 5_000);
});

it('in a pipeline that runs it is counted each time, reported as new once, and the pause grows', async () => {
  const { backend, clock, die } = await lettersHarness();
  const told: [boolean, number][] = [];
  let unanswered = 0;
  const letters = new DeadLetters(backend, {
    report: (_, __, { isNew, pause }) => told.push([isNew, pause]),
    unanswered: () => unanswered++,
  });
  die('a');
  letters.run(deadQueue, (all) => all.pipe(tapDeaths(() => new Promise(() => undefined))));
  clock.advance('4m');
  expect(told).toEqual([
    [true, 1_000],
    [false, 2_000],
    [false, 4_000],
  ]);
  expect(unanswered).toBe(3);
  letters.close();
  expect(clock.nextWakeUp()).toBeUndefined();
});
