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

/** Directories written once and never again: these are out there. `FIXTURE=write` makes the newest anew, until it is out. */
const fixture = (format: number): string => join(import.meta.dirname, `fixtures/format-${format}`);
const folder = mkdtempSync(join(tmpdir(), 'format-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Furnish = (broker: Broker, clock: ManualClock) => void;
const formats: readonly { readonly format: number; readonly fill: Furnish }[] = [
  { format: 1, fill: furnish },
  {
    format: 2,
    fill: (broker, clock) => {
      furnish(broker, clock);
      furnishRetained(broker, clock);
    },
  },
  {
    format: 3,
    fill: (broker, clock) => {
      furnish(broker, clock);
      furnishRetained(broker, clock);
      furnishTraced(broker, clock);
    },
  },
  {
    format: 4,
    fill: (broker, clock) => {
      furnish(broker, clock);
      furnishRetained(broker, clock);
      furnishTraced(broker, clock);
      furnishNoted(broker, clock);
    },
  },
];

if (process.env['FIXTURE'] === 'write') {
  const { fill } = formats[formatVersion - 1] as (typeof formats)[number];
  const directory = fixture(formatVersion);
  rmSync(directory, { recursive: true, force: true });
  const { broker, data, clock } = await harness(directory);
  fill(broker, clock);
  await data.close();
  // Room that was made in advance and never used.
  const file = join(directory, '0000000001.log');
  const bytes = readFileSync(file);
  truncateSync(file, bytes.findLastIndex((byte) => byte !== 0) + 16);
}

/** All published messages; the unacknowledged ones have returned. */
function expected(fill: Furnish): string {
  const clock = new ManualClock();
  const broker = new Broker(lent(clock));
  fill(broker, clock);
  for (const vhost of broker.virtualHosts.values()) for (const each of vhost.connections) each.close();
  clock.advance(0);
  return describeBroker(broker);
}

const versionOf = (directory: string, file: string): number => readFileSync(join(directory, file)).readUInt16BE(8);

describe.each(formats)('a data directory of format $format', ({ format, fill }) => {
  it('is one', () => {
    expect(readdirSync(fixture(format))).toEqual(['0000000001.log']);
    const bytes = readFileSync(join(fixture(format), '0000000001.log'));
    expect(bytes.subarray(0, 8).toString('latin1')).toBe('DLXLOG\r\n');
    expect(bytes.readUInt16BE(8)).toBe(format);
  });

  it('has everything in it, and still has it after it was opened, changed and closed', async () => {
    const directory = join(folder, `copy-${format}`);
    cpSync(fixture(format), directory, { recursive: true });
    const first = await harness(directory);
    first.clock.advance(0);
    expect(first.data.journal.damage).toEqual({ places: [], queues: [], misplaced: 0 });
    expect(describeBroker(first.broker)).toBe(expected(fill));
    const channel = first.broker.connect().openChannel(silent);
    channel.declareQueue('new', { durable: true });
    await first.data.close();
    const second = await harness(directory);
    second.clock.advance(0);
    second.broker.connect().openChannel(silent).deleteQueue('new');
    expect(describeBroker(second.broker)).toBe(expected(fill));
    await second.data.close();
    // A segment of an older format is left as it is.
    const segments = readdirSync(directory).filter((file) => file.endsWith('.log'));
    expect(segments.map((file) => versionOf(directory, file))).toEqual(
      format === formatVersion ? [format] : [format, formatVersion],
    );
  });
});

const silent = { deliver() {}, returned() {}, confirmed() {}, cancelled() {}, closed() {} };
