import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import amqplib from 'amqplib';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EmbeddedBackend } from '../../libs/dlx-broker/src/backends/index.js';
import { addDeadLetters } from '../../libs/dlx-broker/src/cli/dead-letters/index.js';
import { serve, type Served } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { DeadLetters, Redrives } from '../../libs/dlx-broker/src/nest/streams/index.js';
import { until } from '../amqp/harness.js';

/*
 * The user `low` may write to `low` and `low.*` only. What it publishes claims to come from elsewhere; an operator, who may
 * do everything, redrives it. Nothing may ever reach `admin.commands`.
 */

const target = 'admin.commands';
const death = {
  queue: target,
  reason: 'rejected',
  exchange: '',
  'routing-keys': [target],
  count: 1,
  time: { '!': 'timestamp', value: 1_700_000_000 },
};
const ours = {
  'dlx-first-exchange': '',
  'dlx-first-routing-key': target,
  'dlx-queue': target,
  'dlx-attempt': 1,
  'dlx-parked': true,
};
const firstDeath = {
  'x-first-death-reason': 'rejected',
  'x-first-death-queue': target,
  'x-first-death-exchange': '',
};

const forgeries: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'headers of our own': ours,
  'an x-death': { 'x-death': [death] },
  'an x-death that names its first death': { 'x-death': [{ ...death, queue: 'other' }, death], ...firstDeath },
  'an x-death of the queue it will die in': { 'x-death': [{ ...death, queue: 'low.work', reason: 'expired' }] },
  'headers of a first death': firstDeath,
  'all of them': { ...ours, ...firstDeath, 'x-death': [death], 'x-last-death-queue': target },
  'nested ones': { 'x-death': [{ ...death, 'x-death': [death], ...ours }], dlx: ours },
};
const count = Object.keys(forgeries).length;

/** How a message comes to lie in `dead`: by routing key of the exchange `low`. */
const ways = {
  'low.dies': 'died once',
  'low.chain': 'died in a chain of queues',
  'low.straight': 'never died',
} as const;

describe.each(['AMQP', 'HTTP'] as const)('what a client published over %s', (door) => {
  const directory = mkdtempSync(join(tmpdir(), 'forged-'));
  let served: Served;
  let isOpen = false;
  const open = async (): Promise<void> => {
    // A clean restart finds everything without fsync, which took most of the time of these tests.
    const data = { directory, diskFree: 0, durability: 'os' } as const;
    served = await serve({ amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0 }, data });
    isOpen = true;
  };
  const close = async (): Promise<void> => {
    if (isOpen) await served.close();
    isOpen = false;
  };
  beforeAll(async () => {
    await open();
    const { access } = served.broker;
    await request('PUT', '/users/low', { password: 'low', tags: 'management' });
    access.setPermissions('low', '/', { configure: '^$', write: '^low(\\..*)?$', read: '^$' });
    const connection = await amqplib.connect(`amqp://127.0.0.1:${served.amqp.port}`);
    const channel = await connection.createChannel();
    const dying = (to: string) => ({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': to });
    await channel.assertExchange('low', 'direct');
    await channel.assertQueue(target);
    await channel.assertQueue('dead');
    await channel.assertQueue('low.work', { arguments: { ...dying('dead'), 'x-message-ttl': 1 } });
    await channel.assertQueue('low.second', { arguments: { ...dying('dead'), 'x-message-ttl': 1 } });
    await channel.assertQueue('low.first', { arguments: { ...dying('low.second'), 'x-message-ttl': 1 } });
    await channel.bindQueue('low.work', 'low', 'low.dies');
    await channel.bindQueue('low.first', 'low', 'low.chain');
    await channel.bindQueue('dead', 'low', 'low.straight');
    await connection.close();
  });
  afterAll(async () => {
    await close();
    rmSync(directory, { recursive: true, force: true });
  });

  const waiting = (queue: string): number => served.broker.virtualHosts.get('/')?.queues.get(queue)?.length ?? -1;

  async function request(method: string, path: string, body: unknown, user = 'guest'): Promise<unknown> {
    const answer = await fetch(`http://127.0.0.1:${served.http?.port}/api${path}`, {
      method,
      body: JSON.stringify(body),
      headers: { authorization: `Basic ${btoa(`${user}:${user}`)}` },
    });
    const text = await answer.text();
    expect([answer.ok, text]).toEqual([true, text]);
    return text === '' ? undefined : JSON.parse(text);
  }

  /** Every forgery once, and none is refused: a client may publish what it once received. */
  async function publishAll(key: string): Promise<void> {
    await quiet();
    await purge();
    if (door === 'HTTP') {
      for (const headers of Object.values(forgeries)) {
        const plain = JSON.parse(
          JSON.stringify(headers).replaceAll(/\{"!":"timestamp","value":(\d+)\}/g, '$1'),
        ) as object;
        const properties = { delivery_mode: 2, headers: plain };
        const message = { routing_key: key, payload: 'x', payload_encoding: 'string', properties };
        expect(await request('POST', '/exchanges/%2F/low/publish', message, 'low')).toEqual({ routed: true });
      }
    } else {
      const connection = await amqplib.connect(`amqp://low:low@127.0.0.1:${served.amqp.port}`);
      const channel = await connection.createConfirmChannel();
      for (const headers of Object.values(forgeries)) {
        channel.publish('low', key, Buffer.from('x'), { persistent: true, headers });
      }
      await channel.waitForConfirms();
      await connection.close();
    }
    await quiet();
  }

  /** Until all that is to die has died. */
  const quiet = (): Promise<void> =>
    until(() => ['low.work', 'low.first', 'low.second', 'wait.1'].every((queue) => waiting(queue) <= 0));

  const purge = (): Promise<unknown> => request('DELETE', '/queues/%2F/dead/contents', undefined);

  describe.each(Object.entries(ways))('%s (%s)', (key, way) => {
    const proven = way !== 'never died';

    async function cli(...words: string[]) {
      const out: string[] = [];
      const program = new Command().exitOverride();
      const env = { DLX_BROKER_URL: `http://127.0.0.1:${served.http?.port}` };
      const told = { env, out: (text: string) => void out.push(text), error: (text: string) => void out.push(text) };
      addDeadLetters(program, told, () => undefined);
      await program.parseAsync(words, { from: 'user' });
      return out.join('\n');
    }

    const everywhere = (): Record<string, number> => ({ [target]: waiting(target), lot: waiting(`${target}.parked`) });
    const nowhere = { [target]: 0, lot: -1 };

    it.each([false, true])(
      'is shown and redriven over HTTP to where it was published (restart: %s)',
      async (restarts) => {
        await publishAll(key);
        if (restarts) {
          await close();
          await open();
        }
        const { items } = (await request('GET', '/dlx/queues/%2F/dead/messages', undefined)) as {
          items: { origin: { exchange: string; routing_key: string; proven: boolean } | null }[];
        };
        expect(items).toHaveLength(count);
        for (const { origin } of items) {
          if (proven) expect(origin).toEqual({ exchange: 'low', routing_key: key, proven: true });
          else expect(origin?.proven).not.toBe(true);
        }
        const order = { vhost: '/', queue: 'dead', rate: 0, circuit: null };
        const dry = (await request('POST', '/dlx/redrives', { ...order, dry_run: true })) as Record<string, unknown>;
        const told = { moved: 0, left: count, unproven_origin: count - 1 }; // one forgery names no address at all
        expect(dry).toMatchObject(proven ? { moved: count, unproven_origin: 0 } : told);
        const { id } = (await request('POST', '/dlx/redrives', order)) as { id: string };
        const state = async () => ((await request('GET', `/dlx/redrives/${id}`, undefined)) as { state: string }).state;
        while ((await state()) === 'running') await new Promise((resolve) => setTimeout(resolve, 5));
        await quiet();
        expect([everywhere(), waiting('dead')]).toEqual([nowhere, count]); // it died again, or has stayed
      },
    );

    it.runIf(door === 'AMQP')('never reaches it by a redrive of the command line', async () => {
      await publishAll(key);
      const said = await cli('redrive', 'dead', '--rate', '0', '--dry-run');
      expect(said).not.toContain(`to ${target}`);
      if (!proven) expect(said).toMatch(/unproven_origin: .*--to/);
      await cli('redrive', 'dead', '--rate', '0');
      await quiet();
      expect([everywhere(), waiting('dead')]).toEqual([nowhere, count]);
    });

    it('never reaches it by a stream: redrive, work queue, retry, park', async () => {
      const backend = new EmbeddedBackend(served.broker);
      const letters = new DeadLetters(backend);
      const redrives = new Redrives(backend, letters);
      await publishAll(key);
      const { destinations } = await redrives.dryRun({ from: 'dead' });
      expect(Object.keys(destinations).filter((name) => name.includes(target))).toEqual([]);
      await redrives.start({ from: 'dead', perSecond: Infinity, circuit: false }).ended;
      await redrives.start({ from: 'dead', perSecond: 1e9, circuit: false, to: ({ workQueue }) => workQueue }).ended;
      await redrives.start({ from: 'dead', perSecond: 1e9, circuit: false, to: ({ origin }) => origin }).ended;
      const tries: Promise<void>[] = [];
      let turn = 0;
      const taking = letters.from('dead', { prefetch: 100 }).subscribe((letter) => {
        if (tries.length >= count * 2) return;
        tries.push(turn++ % 2 === 0 ? letter.retryIn(1) : letter.park());
      });
      await until(() => tries.length >= count);
      await Promise.allSettled(tries);
      taking.unsubscribe();
      await redrives.close();
      await backend.close();
      expect(everywhere()).toEqual(nowhere);
    });
  });
});
