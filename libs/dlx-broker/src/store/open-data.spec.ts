import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { listen } from '../../../../test/harnesses/listener.js';
import { Broker } from '../engine/broker/index.js';
import { CountedNames } from '../nest/testing/counted-names.js';
import { ManualClock } from '../nest/testing/manual-clock.js';
import { NodeDisk } from './log/node-disk.js';
import { type Data, editData, openData } from './open-data.js';

let directory: string;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'open-data-'));
  const { journal, close } = await openData(directory, { diskFree: 0 });
  journal.changed({ kind: 'virtual-host', change: 'declared', vhost: '/' } as never);
  journal.commit(undefined);
  await close();
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const segment = (): Buffer => readFileSync(join(directory, '0000000001.log'));

const freshBroker = ({ journal }: Data): Broker =>
  new Broker({
    clock: new ManualClock(),
    journal,
    names: new CountedNames(),
    patterns: { compile: () => ({ matches: () => true }) },
  });

/** Files of the directory that this process has open. */
function openFiles(): string[] {
  const paths = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return ''; // the one that was just read
    }
  });
  return paths.filter((path) => path.startsWith(directory));
}

describe.skipIf(process.platform !== 'linux')('a data directory that cannot be opened keeps no file open', () => {
  it('when a repair fails', async () => {
    const before = segment();
    mkdirSync(join(directory, '0000000009.log.new')); // it has the name of a draft, and cannot be unlinked
    await expect(openData(directory)).rejects.toThrow(/Nothing was changed/);
    await expect(editData(directory, () => true)).rejects.toThrow(/Nothing was changed/);
    expect(openFiles()).toEqual([]);
    expect(segment().equals(before)).toBe(true);
    expect(readdirSync(directory).filter((name) => name.includes('lock'))).toEqual([]);
  });

  it('when the note of its use cannot be written', async () => {
    const before = segment();
    const data = await openData(directory);
    writeFileSync(join(directory, 'in-use'), ''); // another program was quicker
    await expect(data.restore(freshBroker(data))).rejects.toThrow(/in-use/);
    await data.close();
    expect(openFiles()).toEqual([]);
    expect(segment().equals(before)).toBe(true);
    rmSync(join(directory, 'in-use'));
    await (await openData(directory)).close();
    expect(openFiles()).toEqual([]);
  });
});

describe('the mark of a directory that is in use', () => {
  const isMarked = (): boolean => existsSync(join(directory, 'in-use'));

  it('is made when the log is restored, before a client can connect, and deleted by a close', async () => {
    const data = await openData(directory);
    expect(isMarked()).toBe(false);
    const broker = freshBroker(data);
    const restored = data.restore(broker);
    for (let isOver = false; !isOver; isOver = isMarked()) {
      expect(() => broker.connect()).toThrow('the broker is starting');
      await setImmediate();
    }
    await restored;
    expect(() => broker.connect()).not.toThrow();
    broker.close();
    await data.close();
    expect(isMarked()).toBe(false);
  });

  it('stays after a crash when a start ends before the log is restored', async () => {
    writeFileSync(join(directory, 'in-use'), '');
    await (await openData(directory)).close();
    expect(isMarked()).toBe(true);
    const data = await openData(directory);
    await data.restore(freshBroker(data));
    await data.close();
    expect(isMarked()).toBe(false);
  });

  it('stays when the disk was too full at the close for a note of what may have been delivered', async () => {
    const first = await openData(directory, { diskFree: 0 });
    const broker = freshBroker(first);
    await first.restore(broker);
    const { channel } = listen(broker);
    channel.declareQueue('q', { durable: true });
    channel.publish('', 'q', { deliveryMode: 2 }, Buffer.from('x'));
    await first.journal.flush();
    await first.close();
    writeFileSync(join(directory, 'in-use'), '');
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    const opened = NodeDisk.prototype.open;
    vi.spyOn(NodeDisk.prototype, 'open').mockImplementation(async function (this: NodeDisk, name, how) {
      const file = await opened.call(this, name, how);
      if (name.endsWith('.log')) file.write = () => Promise.reject(full);
      return file;
    });
    const crashed = await openData(directory, { diskFree: 0 });
    await crashed.restore(freshBroker(crashed));
    await crashed.close();
    vi.restoreAllMocks();
    expect(isMarked()).toBe(true);
    const again = await openData(directory, { diskFree: 0 });
    const found = freshBroker(again);
    await again.restore(found);
    const returns: number[] = [];
    found
      .virtualHost('/')
      .queues.get('q')
      ?.peek((entry) => void returns.push(entry.returns));
    expect(returns).toEqual([1]);
    await again.close();
    expect(isMarked()).toBe(false);
  });
});
