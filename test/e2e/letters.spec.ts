import { NestFactory } from '@nestjs/core';
import { type ConsumedLetter, tapDeaths } from 'dlx-broker/streams';
import { DeadLetters, DlxBroker, DlxBrokerModule, Redrives } from 'dlx-broker';
import { finalize, mergeMap, NEVER, throwError } from 'rxjs';
import { expect, it } from 'vitest';
import { here, until } from './places.js';

const start = async () => {
  const module = { module: class {}, imports: [DlxBrokerModule.forRoot(here())] };
  const app = await NestFactory.createApplicationContext(module, { logger: false });
  const { backend } = app.get(DlxBroker);
  const lying = { durable: true, exclusive: false, autoDelete: false, arguments: new Map() };
  await backend.declare({ exchanges: [], bindings: [], queues: ['dead', 'work'].map((name) => ({ ...lying, name })) });
  const publish = (): void =>
    backend.publish({ exchange: '', routingKey: 'dead', properties: {}, body: Buffer.from('1') });
  return { app, publish, letters: app.get(DeadLetters) };
};

it('a pipeline that runs ends with its application, also one that fails', async () => {
  const { app, publish, letters } = await start();
  publish();
  const running = letters.run('dead', (stream) => stream);
  const failing = letters.run('dead', () => throwError(() => new Error('down')));
  expect([running.closed, failing.closed]).toEqual([false, false]);
  await app.close();
  expect([running.closed, failing.closed]).toEqual([true, true]);
  expect(letters.run('dead', (stream) => stream).closed).toBe(true);
});

it('a stream that the application subscribed to itself completes with it, and a redrive is stopped', async () => {
  const { app, publish, letters } = await start();
  for (let count = 0; count < 20; count++) publish();
  let completed = 0;
  const isListed = app.get(DlxBroker).backend.listing !== undefined;
  letters.from('dead', { prefetch: 3 }).subscribe({ complete: () => completed++ });
  if (isListed) letters.from(/^dead$/, { prefetch: 3 }).subscribe({ complete: () => completed++ });
  const task = app.get(Redrives).start({ from: 'dead', to: 'work', perSecond: 1 });
  await new Promise((resolve) => setImmediate(resolve));
  await app.close();
  expect(completed).toBe(isListed ? 2 : 1);
  expect((await task.ended).state).toBe('cancelled');
  expect(app.get(Redrives).start({ from: 'dead' }).current.state).toBe('cancelled');
});

it('functions inside operators that never answer are counted, and the application can be closed', async () => {
  const { app, publish, letters } = await start();
  publish();
  const failed = new Promise<Error>((error) => {
    letters
      .from('dead')
      .pipe(tapDeaths(() => new Promise(() => undefined), { within: 10 }))
      .subscribe({ error });
  });
  expect((await failed).name).toBe('CallbackTimeoutError');
  letters.run('dead', (all) => all.pipe(tapDeaths(() => new Promise(() => undefined))));
  expect(app.get(DlxBroker).counts.unanswered).toBe(1);
  await app.close();
});

it('a shutdown names the queues of pipelines that hang, and ends although an operator throws at its end', async () => {
  const { app, publish, letters } = await start();
  const lines: string[] = [];
  const note = (line: unknown): void => void lines.push(String(line));
  app.useLogger({ log: () => undefined, warn: note, error: note });
  for (let count = 0; count < 20; count++) publish();
  let taken = 0;
  const hangs = mergeMap(() => {
    taken++;
    return NEVER;
  });
  letters.run('dead', (all) => all.pipe(hangs), { prefetch: 3 });
  const fail = finalize<ConsumedLetter>(() => {
    throw new Error('the end failed');
  });
  const isListed = app.get(DlxBroker).backend.listing !== undefined;
  letters.run(isListed ? /^wo/ : 'work', (all) => all.pipe(fail));
  await until(() => expect(taken).toBe(3));
  await app.close();
  expect(lines.filter((line) => !line.includes('the broker was in memory'))).toEqual([
    expect.stringMatching(/^the pipeline of (\/\^wo\/|work) has ended, and threw an error: .*the end failed/),
    expect.stringContaining("unsettled in streams, and back in their queues: 3 of 'dead'"),
  ]);
});

it('what streams retry, park and redrive is counted', async () => {
  const { app, publish, letters } = await start();
  for (let count = 0; count < 3; count++) publish();
  const taken: ConsumedLetter[] = [];
  letters.from('dead').subscribe((letter) => taken.push(letter));
  await until(() => expect(taken).toHaveLength(3));
  await taken[0]?.retryIn(60_000);
  await taken[1]?.park();
  await taken[2]?.redrive('work');
  expect(app.get(DlxBroker).counts).toMatchObject({ retried: 1, parked: 1, redriven: 1 });
  await app.close();
});
