import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Broker } from '../../libs/dlx-broker/src/broker/index.js';
import { ManualClock } from '../../libs/dlx-broker/src/testing/manual-clock.js';
import { describeBroker } from './describe-broker.js';
import { furnish, house } from './furnished.js';
import { lent } from './house.js';

/** Written once and never again: this is what is out there. `FIXTURE=write` makes it anew for a format of its own. */
const fixture = join(import.meta.dirname, 'fixtures/format-1');
const folder = mkdtempSync(join(tmpdir(), 'format-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

if (process.env['FIXTURE'] === 'write') {
  rmSync(fixture, { recursive: true, force: true });
  const { broker, data, clock } = await house(fixture);
  furnish(broker, clock);
  await data.close();
  // Room that was made in advance and never used.
  const file = join(fixture, '0000000001.log');
  const bytes = readFileSync(file);
  truncateSync(file, bytes.findLastIndex((byte) => byte !== 0) + 16);
}

/** All that was put in, and what was in somebody's hands is back. */
function expected(): string {
  const clock = new ManualClock();
  const broker = new Broker(lent(clock));
  furnish(broker, clock);
  for (const vhost of broker.virtualHosts.values()) for (const each of vhost.connections) each.close();
  clock.advance(0);
  return describeBroker(broker);
}

describe('a data directory of format 1', () => {
  it('is one', () => {
    expect(readdirSync(fixture)).toEqual(['0000000001.log']);
    const bytes = readFileSync(join(fixture, '0000000001.log'));
    expect(bytes.subarray(0, 8).toString('latin1')).toBe('DLXLOG\r\n');
    expect(bytes.readUInt16BE(8)).toBe(1);
  });

  it('has everything in it, and still has it after it was opened, changed and closed', async () => {
    const directory = join(folder, 'copy');
    cpSync(fixture, directory, { recursive: true });
    const first = await house(directory);
    first.clock.advance(0);
    expect(first.data.journal.damage).toEqual({ places: [], queues: [], misplaced: 0 });
    expect(describeBroker(first.broker)).toBe(expected());
    const channel = first.broker.connect().openChannel(silent);
    channel.declareQueue('new', { durable: true });
    await first.data.close();
    const second = await house(directory);
    second.clock.advance(0);
    second.broker.connect().openChannel(silent).deleteQueue('new');
    expect(describeBroker(second.broker)).toBe(expected());
    await second.data.close();
  });
});

const silent = { deliver() {}, returned() {}, confirmed() {}, cancelled() {}, closed() {} };
