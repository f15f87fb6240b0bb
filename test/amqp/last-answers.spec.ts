import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serve, type Served } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { writeFrame } from '../contract/wire/frames.js';
import { writeContentHeader } from '../contract/wire/properties.js';
import { heard, say } from './heard.js';

// With a data directory these answers wait until their changes are durable.
const directory = mkdtempSync(join(tmpdir(), 'last-answers-'));
let served: Served;
beforeAll(async () => {
  served = await serve({ amqp: { host: '127.0.0.1', port: 0 }, data: { directory }, notice: () => undefined });
});
afterAll(async () => {
  await served.close();
  rmSync(directory, { recursive: true });
});

const real = process.env['AMQP_URL'];
const ports = (): number[] => [served.amqp!.port, ...(real === undefined ? [] : [Number(new URL(real).port) || 5672])];

const queue = (name: string) => say(1, 'queue.declare', { queue: name, durable: true });
const remove = (name: string) => say(1, 'queue.delete', { queue: name });
const publish = (name: string): Buffer =>
  Buffer.concat([
    say(1, 'basic.publish', { exchange: '', key: name }),
    writeFrame(2, 1, writeContentHeader({ deliveryMode: 2 }, 1)),
    writeFrame(3, 1, Buffer.from('x')),
  ]);
const bad = say(1, 'basic.ack', { deliveryTag: 9 });
const unroutable = Buffer.concat([
  say(1, 'basic.publish', { exchange: '', key: 'last.nowhere', mandatory: true }),
  writeFrame(2, 1, writeContentHeader({}, 0)),
]);
/** RabbitMQ closes the connection for this flag. */
const fatal = Buffer.concat([
  say(1, 'basic.publish', { exchange: '', key: 'last.nowhere', immediate: true }),
  writeFrame(2, 1, writeContentHeader({}, 0)),
]);
const close = say(0, 'connection.close', { code: 200 });

// Not repeated: a declaration of a queue that exists has no changes to wait for.
describe('the answer of a command is sent before what follows it in the same write (rule Q9)', { retry: 0 }, () => {
  it.each<[string, readonly Buffer[], readonly string[], string]>([
    ['queue.declare, then an error', [queue('last.a'), bad], ['queue.declare-ok', 'channel.close 406'], 'l.close'],
    [
      'queue.delete, then an error',
      [queue('last.a'), remove('last.a'), bad],
      ['queue.declare-ok', 'queue.delete-ok', 'channel.close 406'],
      'l.close',
    ],
    [
      'queue.declare and queue.delete, then a close of the connection',
      [queue('last.b'), remove('last.b'), close],
      ['queue.declare-ok', 'queue.delete-ok', 'connection.close-ok'],
      'close-ok',
    ],
    [
      'queue.declare, then an error that closes the connection',
      [queue('last.e'), fatal],
      ['queue.declare-ok', 'connection.close 540'],
      'n.close',
    ],
    [
      'queue.declare, then a publish that is returned',
      [queue('last.g'), unroutable, remove('last.g')],
      ['queue.declare-ok', 'basic.return 312', 'queue.delete-ok'],
      'delete-ok',
    ],
  ])('%s', async (_, frames, expected, end) => {
    for (const port of ports()) expect(await heard(port, frames, false, end)).toEqual(expected);
  });

  it('queue.declare, then a transient publish that is confirmed', async () => {
    for (const port of ports()) {
      const frames = [queue('last.f'), unroutable, remove('last.f')];
      const log = await heard(port, frames, true, 'delete-ok');
      expect(log.filter((name) => name !== 'basic.return 312')).toEqual([
        'queue.declare-ok',
        'basic.ack 1',
        'queue.delete-ok',
      ]);
    }
  });

  // RabbitMQ 3.10 answers neither the commit nor the error.
  it.each<[string, Buffer, string]>([
    ['an error', bad, 'channel.close 406'],
    ['a close of the connection', close, 'connection.close-ok'],
  ])('tx.commit, then %s', async (_, last, said) => {
    const frames = [queue('last.c'), say(1, 'tx.select'), publish('last.c'), say(1, 'tx.commit'), last];
    expect(await heard(served.amqp!.port, frames, false, said.split(' ')[0])).toEqual([
      'queue.declare-ok',
      'tx.select-ok',
      'tx.commit-ok',
      said,
    ]);
  });

  it('a purge that takes several turns, then an error or a close of the connection', async () => {
    for (const [last, said] of [
      [bad, 'channel.close 406'],
      [close, 'connection.close-ok'],
    ] as const) {
      const many = Array.from({ length: 20_000 }, () => publish('last.d'));
      const frames = [queue('last.d'), ...many, say(1, 'queue.purge', { queue: 'last.d' }), last];
      expect(await heard(served.amqp!.port, frames, false, said.split(' ')[0])).toEqual([
        'queue.declare-ok',
        'queue.purge-ok',
        said,
      ]);
    }
  });
});
