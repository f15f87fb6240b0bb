import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { formatVersion } from '../../libs/dlx-broker/src/store/log/segment-header.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { describeBroker } from './describe-broker.js';
import { furnish, furnishNoted, furnishRetained, furnishTraced, harness } from './furnished.js';
import { lent } from './harness.js';

/** A directory written once and never again: such ones are out there. `FIXTURE=write` makes it anew, until it is out. */
const fixture = join(import.meta.dirname, `fixtures/format-${formatVersion}`);
const folder = mkdtempSync(join(tmpdir(), 'format-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fill(broker: Broker, clock: ManualClock): void {
  furnish(broker, clock);
  furnishRetained(broker, clock);
  furnishTraced(broker, clock);
  furnishNoted(broker, clock);
}

if (process.env['FIXTURE'] === 'write') {
  rmSync(fixture, { recursive: true, force: true });
  const { broker, data, clock } = await harness(fixture);
  fill(broker, clock);
  await data.close();
  // Room that was made in advance and never used.
  const file = join(fixture, '0000000001.log');
  const bytes = readFileSync(file);
  truncateSync(file, bytes.findLastIndex((byte) => byte !== 0) + 16);
}

/** All published messages; the unacknowledged ones have returned. */
function expected(): string {
  const clock = new ManualClock();
  const broker = new Broker(lent(clock));
  fill(broker, clock);
  for (const vhost of broker.virtualHosts.values()) for (const each of vhost.connections) each.close();
  clock.advance(0);
  return describeBroker(broker);
}

describe(`a data directory of format ${formatVersion}`, () => {
  it('is one', () => {
    expect(readdirSync(fixture)).toEqual(['0000000001.log']);
    const bytes = readFileSync(join(fixture, '0000000001.log'));
    expect(bytes.subarray(0, 8).toString('latin1')).toBe('DLXLOG\r\n');
    expect(bytes.readUInt16BE(8)).toBe(formatVersion);
  });

  it('has everything in it, and still has it after it was opened, changed and closed', async () => {
    const directory = join(folder, 'copy');
    cpSync(fixture, directory, { recursive: true });
    const first = await harness(directory);
    first.clock.advance(0);
    expect(first.data.journal.damage).toEqual({ places: [], queues: [], misplaced: 0 });
    expect(describeBroker(first.broker)).toBe(expected());
    const channel = first.broker.connect().openChannel(silent);
    channel.declareQueue('new', { durable: true });
    await first.data.close();
    const second = await harness(directory);
    second.clock.advance(0);
    second.broker.connect().openChannel(silent).deleteQueue('new');
    expect(describeBroker(second.broker)).toBe(expected());
    await second.data.close();
  });
});

const silent = { deliver() {}, returned() {}, confirmed() {}, cancelled() {}, closed() {} };
