import type { MessageOwner, Journal, RetainedDeath, Settled } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { crc32 } from '../../libs/dlx-broker/src/store/log/bytes.js';
import type { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { digestIn, hintNumber, writeHintHeader } from '../../libs/dlx-broker/src/store/log/hints.js';
import type { Rows } from '../../libs/dlx-broker/src/store/log/inventory.js';
import type { Disk, DiskFile } from '../../libs/dlx-broker/src/store/log/options.js';
import { maxRecord, recordHead, segmentHead } from '../../libs/dlx-broker/src/store/log/segment-header.js';
import { Flag } from '../../libs/dlx-broker/src/store/log/tables.js';
import { FakeDisk } from './fake-disk.js';
import type { Mutant } from './power-cut.js';
import type { Entry } from './stored-state.js';

/**
 * Bugs that other stores have had, injected from outside: the disk skips a call, recovery finds no wrong CRC, the journal gets
 * operations in another order or reports a commit too soon.
 */
export const mutants: Readonly<Record<string, Mutant>> = {
  'no fsync': { disk: (disk) => new ForgetfulDisk(disk, { sync: false, syncDir: true }) },
  'no fsync of the directory': { disk: (disk) => new ForgetfulDisk(disk, { sync: true, syncDir: false }) },
  'no fsync of the directory at the start': { disk: (disk) => new ForgetfulStart(disk) },
  'no fsync of earlier segments': { disk: (disk) => new ForgetfulStart(disk, true) },
  'no CRC': { found: withoutCrc },
  'hints that lack their last records': {
    found: (disk) => withHints(disk, (digest) => digest.subarray(0, digest.length / 2)),
  },
  'hints that are believed whatever they hold': { found: (disk) => withHints(disk, garbled) },
  'ack before message': { journal: (journal) => new AckFirst(journal) },
  'confirm before sync': { journal: (journal) => new Hasty(journal) },
};

/** Two bugs that rows have had. */
export const mutantsOfRows: Readonly<Record<string, Mutant>> = {
  'messages that are freed twice': { journal: freesTwice },
  'rows that are made before a message that shares a body with one': { journal: (journal) => new Late(journal) },
};

/** Reports a sync that was not made. */
class ForgetfulDisk implements Disk {
  constructor(
    readonly disk: FakeDisk,
    readonly does: { readonly sync: boolean; readonly syncDir: boolean },
  ) {}

  list(): Promise<readonly string[]> {
    return this.disk.list();
  }

  async open(name: string, how: 'create' | 'write' | 'read'): Promise<DiskFile> {
    const file = await this.disk.open(name, how);
    if (this.does.sync) return file;
    return {
      size: () => file.size(),
      write: (chunks, position) => file.write(chunks, position),
      sync: () => this.disk.begin(),
      truncate: (size) => file.truncate(size),
      read: (into, position) => file.read(into, position),
      readSync: (into, position) => file.readSync(into, position),
      sizeSync: () => file.sizeSync(),
      close: () => file.close(),
    };
  }

  unlink(name: string): Promise<void> {
    return this.disk.unlink(name);
  }

  rename(from: string, to: string): Promise<void> {
    return this.disk.rename(from, to);
  }

  syncDir(): Promise<void> {
    return this.does.syncDir ? this.disk.syncDir() : this.disk.begin();
  }

  free(): Promise<number | undefined> {
    return this.disk.free();
  }
}

/** Does not sync what an earlier process left: the directory, or its files. */
class ForgetfulStart extends ForgetfulDisk {
  #forgets = false;

  constructor(
    disk: FakeDisk,
    readonly files = false,
  ) {
    super(disk, { sync: true, syncDir: true });
  }

  override async list(): Promise<readonly string[]> {
    const names = await super.list();
    this.#forgets = !this.files && names.length > 0;
    return names;
  }

  override async open(name: string, how: 'create' | 'write' | 'read'): Promise<DiskFile> {
    const file = await super.open(name, how);
    if (!this.files || how !== 'write') return file;
    const sync = file.sync.bind(file);
    file.sync = async () => {
      file.sync = sync;
    };
    return file;
  }

  override syncDir(): Promise<void> {
    if (!this.#forgets) return super.syncDir();
    this.#forgets = false;
    return this.disk.begin();
  }
}

/** Gives each record the right CRC, as if recovery did not check it. */
function withoutCrc(disk: FakeDisk): FakeDisk {
  const found = new FakeDisk();
  for (const [name, bytes] of disk.files()) {
    if (bytes.length >= segmentHead && hintNumber(name) === undefined) {
      bytes.writeUInt32BE(crc32(bytes, 0, 24, 0), 24);
      const salt = bytes.readUInt32BE(12);
      for (let at = segmentHead; at + recordHead <= bytes.length;) {
        const length = bytes.readUInt32BE(at);
        const end = at + 8 + length;
        if (length === 0 || length > maxRecord || end > bytes.length) break;
        bytes.writeUInt32BE(crc32(bytes, at + 8, end, salt), at + 4);
        at = end;
      }
    }
    found.put(name, bytes);
  }
  return found;
}

/** Hints with other content that look right: their lengths and CRCs are those of the content. */
function withHints(disk: FakeDisk, change: (digest: Buffer) => Buffer): FakeDisk {
  const found = new FakeDisk();
  for (const [name, bytes] of disk.files()) {
    const content = hintNumber(name) === undefined ? undefined : digestIn(bytes);
    if (content === undefined) {
      found.put(name, bytes);
      continue;
    }
    const digest = change(Buffer.from(content.digest));
    found.put(name, Buffer.concat([writeHintHeader(content, digest), digest]));
  }
  return found;
}

/** Another number of an entry or a message: the lowest bit of a byte in the middle. */
function garbled(digest: Buffer): Buffer {
  const middle = digest.length >> 1;
  digest[middle] = (digest[middle] as number) ^ 1;
  return digest;
}

/** Passes each call to another journal. */
class Through implements Journal {
  constructor(readonly to: Journal) {}

  get sequence(): number {
    return this.to.sequence;
  }

  get rows(): Journal['rows'] {
    return this.to.rows;
  }

  refuses(queue: MessageOwner, message: Entry['message']): boolean {
    return this.to.refuses(queue, message);
  }

  changed(change: Parameters<Journal['changed']>[0]): void {
    this.to.changed(change);
  }

  enqueued(queue: MessageOwner, entry: Entry): void {
    this.to.enqueued(queue, entry);
  }

  detached(message: Entry['message']): void {
    this.to.detached?.(message);
  }

  delivered(queue: MessageOwner, entry: Entry): void {
    this.to.delivered(queue, entry);
  }

  returned(queue: MessageOwner, entry: Entry): void {
    this.to.returned(queue, entry);
  }

  died(queue: MessageOwner, entry: Entry, death: RetainedDeath): void {
    this.to.died(queue, entry, death);
  }

  settled(queue: MessageOwner, entry: Entry): void {
    this.to.settled(queue, entry);
  }

  commit(settled: Settled | undefined): void {
    this.to.commit(settled);
  }
}

/** A move in two commits, the leaving first: everything else of a command goes with the next commit. */
class AckFirst extends Through {
  #later: (() => void)[] = [];
  #arrived = new Set<Entry>();
  #told = 0;

  /** Includes the operations that wait. */
  override get sequence(): number {
    return this.to.sequence + this.#told;
  }

  override changed(change: Parameters<Journal['changed']>[0]): void {
    this.#wait(() => this.to.changed(change));
  }

  override enqueued(queue: MessageOwner, entry: Entry): void {
    this.#arrived.add(entry);
    this.#wait(() => this.to.enqueued(queue, entry));
  }

  override delivered(queue: MessageOwner, entry: Entry): void {
    this.#wait(() => this.to.delivered(queue, entry));
  }

  override returned(queue: MessageOwner, entry: Entry): void {
    this.#wait(() => this.to.returned(queue, entry));
  }

  override died(queue: MessageOwner, entry: Entry, death: RetainedDeath): void {
    this.#wait(() => this.to.died(queue, entry, death));
  }

  override settled(queue: MessageOwner, entry: Entry): void {
    if (this.#arrived.has(entry)) this.#wait(() => this.to.settled(queue, entry));
    else this.to.settled(queue, entry);
  }

  override commit(settled: Settled | undefined): void {
    this.to.commit(undefined);
    for (const say of this.#later.splice(0)) say();
    this.#arrived.clear();
    // Without another commit they would never be written: the waiting ones go with the next operation.
    if (settled !== undefined) this.to.commit(settled);
  }

  #wait(say: () => void): void {
    this.#told++;
    this.#later.push(say);
  }
}

/** Confirms at once. */
class Hasty extends Through {
  override commit(settled: Settled | undefined): void {
    this.to.commit(undefined);
    settled?.();
  }
}

/** The messages of rows that go with their queue are freed although those that shared their bodies have freed them already. */
function freesTwice(journal: DiskJournal): Journal {
  const inventory = journal.rows?.inventory as Rows['inventory'];
  const { entries, messages } = inventory;
  const ofRows = new Set<number>();
  const dropSome = inventory.dropSome.bind(inventory);
  inventory.dropSome = (limit) => {
    for (let number = 1; number < entries.end; number++) {
      const isRow = (entries.flags.get(number) & Flag.Live) !== 0 && entries.entries.get(number) === undefined;
      if (isRow && inventory.isLeaving(number)) ofRows.add(entries.message.get(number));
    }
    return dropSome(limit);
  };
  const release = inventory.releaseUnreferenced.bind(inventory);
  const serialOf = messages.serial.get.bind(messages.serial);
  inventory.releaseUnreferenced = () => {
    messages.serial.get = (number) => serialOf(number) || (ofRows.has(number) ? 1 : 0);
    release();
    messages.serial.get = serialOf;
    if (ofRows.size > 0 && [...ofRows].every((number) => serialOf(number) === 0)) ofRows.clear();
  };
  return journal;
}

/** The journal gets a message only after its queue has made rows of others. */
class Late extends Through {
  #late: (() => void) | undefined;

  override get sequence(): number {
    this.#catchUp();
    return super.sequence;
  }

  override refuses(queue: MessageOwner, message: Entry['message']): boolean {
    this.#catchUp();
    return super.refuses(queue, message);
  }

  override changed(change: Parameters<Journal['changed']>[0]): void {
    this.#catchUp();
    super.changed(change);
  }

  override enqueued(queue: MessageOwner, entry: Entry): void {
    this.#catchUp();
    this.#late = () => super.enqueued(queue, entry);
  }

  override detached(message: Entry['message']): void {
    this.#catchUp();
    super.detached(message);
  }

  override delivered(queue: MessageOwner, entry: Entry): void {
    this.#catchUp();
    super.delivered(queue, entry);
  }

  override returned(queue: MessageOwner, entry: Entry): void {
    this.#catchUp();
    super.returned(queue, entry);
  }

  override died(queue: MessageOwner, entry: Entry, death: RetainedDeath): void {
    this.#catchUp();
    super.died(queue, entry, death);
  }

  override settled(queue: MessageOwner, entry: Entry): void {
    this.#catchUp();
    super.settled(queue, entry);
  }

  override commit(settled: Settled | undefined): void {
    this.#catchUp();
    super.commit(settled);
  }

  #catchUp(): void {
    const late = this.#late;
    this.#late = undefined;
    late?.();
  }
}
