import { frameTail, publish } from './frames.js';
import { LeanClient } from './lean-client.js';
import { ReadBuffers } from './scanner.js';
import { bodyOf } from './scene.js';
import type { Target } from './target.js';

/** Handshakes at the same time. */
const width = 50;

/** Bytes of a body: the time at which it was published, and padding. */
const size = 16;

/** The most messages in one write of a member. */
const batch = 64;

/** One connection with a queue of its own, to which it publishes, and from which it consumes. */
export class Member {
  sent = 0;
  arrived = 0;
  /** Called when messages have arrived, after their ack. */
  onArrived: () => void = () => undefined;
  #client: LeanClient | undefined;
  readonly #frames: Buffer;
  /** Bytes of a publish. */
  readonly #each: number;

  constructor(readonly queue: string) {
    const one = publish('', queue, bodyOf(size));
    this.#each = one.length;
    this.#frames = Buffer.concat(new Array<Buffer>(batch).fill(one));
  }

  get client(): LeanClient {
    return this.#client as LeanClient;
  }

  /** @param onArrival gets the time at which a message was published, if it was stamped */
  async open(target: Target, buffers: ReadBuffers, onArrival: (stamp: number) => void): Promise<void> {
    const onBody = (bytes: Buffer, at: number): void => onArrival(bytes.readDoubleLE(at));
    this.#client = await LeanClient.connect(target, { buffers, onBody });
    await this.client.declareQueue(this.queue);
    this.client.onDelivered = (_, to) => {
      this.arrived = to;
      this.client.ack(to);
      this.onArrived();
    };
    await this.client.consume(this.queue);
  }

  /** Publishes messages that have the present time in their bodies. */
  publish(count: number, now: number): void {
    for (let left = count; left > 0; left -= batch) {
      const all = Math.min(left, batch);
      // A copy, because the socket may keep bytes that it cannot send immediately.
      const bytes = Buffer.from(this.#frames.subarray(0, all * this.#each));
      for (let end = this.#each; end <= bytes.length; end += this.#each)
        bytes.writeDoubleLE(now, end - frameTail - size);
      this.client.write(bytes);
    }
    this.sent += count;
  }
}

/** Many connections at the same time, all in this process. */
export class Crowd {
  readonly members: readonly Member[];
  /** Called with the time at which the arrived message was published. */
  onArrival: (stamp: number) => void = () => undefined;
  readonly #buffers = new ReadBuffers();

  constructor(count: number) {
    this.members = Array.from({ length: count }, (_, index) => new Member(`crowd-${index}`));
  }

  get arrived(): number {
    return this.members.reduce((sum, { arrived }) => sum + arrived, 0);
  }

  get sent(): number {
    return this.members.reduce((sum, { sent }) => sum + sent, 0);
  }

  async open(target: Target): Promise<void> {
    await this.#each((member) => member.open(target, this.#buffers, (stamp) => this.onArrival(stamp)));
  }

  async close(): Promise<void> {
    await this.#each(async ({ client, queue }) => {
      await client.deleteQueue(queue);
      await client.close();
    });
  }

  async #each(act: (member: Member) => Promise<void>): Promise<void> {
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let member = this.members[next++]; member !== undefined; member = this.members[next++]) await act(member);
    };
    await Promise.all(Array.from({ length: width }, worker));
  }
}
