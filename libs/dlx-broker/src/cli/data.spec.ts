import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { atLeastOnceTo } from '../../../../test/durability/at-least-once.js';
import { listen } from '../../../../test/harnesses/listener.js';
import { Broker, type ProfileName } from '../engine/broker/index.js';
import { type Field, int32, longstr } from '../engine/message/index.js';
import { CountedNames } from '../nest/testing/counted-names.js';
import { ManualClock } from '../nest/testing/manual-clock.js';
import { openData } from '../store/index.js';
import { OverlayDisk } from '../store/log/overlay-disk.js';
import { checkData, exportData } from './data.js';

const folder = mkdtempSync(join(tmpdir(), 'data-tool-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A data directory in which `fill` has left something; it shows what the two tools say of it. */
async function kept(
  fill: (channel: ReturnType<typeof listen>['channel'], clock: ManualClock) => void,
  rabbitmq: ProfileName = '3.10',
) {
  const directory = mkdtempSync(join(folder, 'kept-'));
  const clock = new ManualClock(Date.now()); // the tools look at the time that is
  const data = await openData(directory, { diskFree: 0 });
  const patterns = { compile: () => ({ matches: () => true }) };
  const broker = new Broker({ clock, journal: data.journal, names: new CountedNames(), patterns, rabbitmq });
  fill(listen(broker).channel, clock);
  await data.close();
  const output: string[] = [];
  const write = async (text: string): Promise<void> => void output.push(text.trimEnd());
  expect(await exportData(directory, write, write)).toBe(0);
  const lines = output.splice(0).map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(await checkData(directory, write)).toBe(0);
  return { lines, counts: output.slice(1), start: clock.now() };
}

const persistent = (headers: readonly (readonly [string, Field])[] = []) => ({
  deliveryMode: 2,
  headers: new Map(headers),
});

const hour = 3_600_000;

describe('the tools for a data directory', () => {
  it('make no segment in memory, however much they find', async () => {
    const open = vi.spyOn(OverlayDisk.prototype, 'open');
    const { counts } = await kept((channel) => {
      channel.declareQueue('work', { durable: true });
      for (let left = 12; left > 0; left--) channel.publish('', 'work', persistent(), Buffer.alloc(100_000));
      channel.get('work'); // unacknowledged: its return is written
    });
    expect(counts[0]).toBe("queue 'work' in vhost '/': 12 messages");
    expect(open.mock.calls.filter(([, how]) => how === 'create')).toEqual([]);
    open.mockRestore();
  });
});

it('a dead letter in a data directory is redelivered from the start, as its next delivery is (rule W16)', async () => {
  const { lines } = await kept((channel) => {
    const dying = { 'x-dead-letter-exchange': longstr(''), 'x-dead-letter-routing-key': longstr('dead') };
    channel.declareQueue('dead', { durable: true });
    channel.declareQueue('work', { durable: true, arguments: new Map(Object.entries(dying)) });
    channel.publish('', 'work', persistent(), Buffer.from('m'));
    channel.reject(channel.get('work')!.deliveryTag, false);
  }, '4');
  expect(lines).toMatchObject([{ queue: 'dead', body: 'm', redelivered: true }]);
});

describe('what died and has not arrived is output by the tools for a data directory', () => {
  it('with the queue it died in, and why', async () => {
    const { lines, counts, start } = await kept((channel) => {
      channel.declareQueue('work', { durable: true, arguments: atLeastOnceTo('nowhere') });
      for (const text of ['one', 'two']) channel.publish('', 'work', persistent(), Buffer.from(text));
      channel.reject(channel.get('work')!.deliveryTag, false, new Map([['why', longstr('because')]]));
    });
    const died = { reason: 'rejected', time: new Date(start).toISOString(), headers: { why: { longstr: 'because' } } };
    expect(lines).toMatchObject([
      { queue: 'work', body: 'one', died },
      { queue: 'work', body: 'two' },
    ]);
    expect(lines[1]).not.toHaveProperty('died');
    expect(counts[0]).toBe("queue 'work' in vhost '/': 2 messages, 1 of them dead, and not arrived");
  });
});

describe('what is held back is output by the tools for a data directory', () => {
  it('of a delayed exchange: by which, and when it is due, the next first', async () => {
    const { lines, counts, start } = await kept((channel) => {
      const args = new Map([['x-delayed-type', longstr('fanout')]]);
      channel.declareExchange('later', { type: 'x-delayed-message', durable: true, arguments: args });
      channel.declareQueue('work', { durable: true });
      channel.bindQueue('work', 'later', '');
      for (const delay of [3 * hour, hour, hour, 0]) {
        const text = Buffer.from(`${delay}`);
        channel.publish('later', 'key', persistent([['x-delay', int32(delay)]]), text);
      }
    });
    expect(lines).toHaveLength(4);
    expect(lines[0]).toMatchObject({ vhost: '/', queue: 'work', exchange: 'later', body: '0' });
    expect(lines[0]).not.toHaveProperty('due');
    const held = (delay: number, position: number): object => ({
      vhost: '/',
      delayed_by: 'later',
      due: new Date(start + delay).toISOString(),
      position,
      exchange: 'later',
      routing_key: 'key',
      body: `${delay}`,
      properties: { delivery_mode: 2, headers: { 'x-delay': { signedint: -delay } } },
    });
    expect(lines.slice(1)).toMatchObject([held(hour, 2), held(hour, 3), held(3 * hour, 1)]);
    for (const line of lines.slice(1)) expect(line).not.toHaveProperty('queue');
    expect(counts).toEqual([
      "queue 'work' in vhost '/': 1 message",
      "exchange 'later' in vhost '/': 3 messages, 3 of them held back",
      'everything is as it was written',
    ]);
  });

  it('of a quorum queue that delays what comes back: when it is ready (rule W7)', async () => {
    const { lines, counts, start } = await kept((channel) => {
      const args = new Map<string, Field>([
        ['x-queue-type', longstr('quorum')],
        ['x-delayed-retry-type', longstr('all')],
        ['x-delayed-retry-min', int32(hour)],
      ]);
      channel.declareQueue('work', { durable: true, arguments: args });
      for (const text of ['one', 'two']) channel.publish('', 'work', persistent(), Buffer.from(text));
      channel.reject(channel.get('work')!.deliveryTag, true);
    }, '4');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatchObject({ queue: 'work', body: 'two' });
    expect(lines[1]).toMatchObject({ queue: 'work', body: 'one', due: new Date(start + hour).toISOString() });
    expect(counts[0]).toBe("queue 'work' in vhost '/': 2 messages, 1 of them held back");
  });
});
