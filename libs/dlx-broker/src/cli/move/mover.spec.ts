import { describe, expect, it } from 'vitest';
import { type FieldTable, int32, longstr, type Properties } from '../../message/index.js';
import { MoveFailure, type Moving, type Source, type Target } from './ends.js';
import { Mover } from './mover.js';

/** A queue in memory that can be taken from and sent to. */
class Heap implements Source, Target {
  readonly ready: Moving[] = [];
  readonly unacked = new Set<Moving>();
  /** Says what happens to a publish. */
  verdict: (message: Moving) => MoveFailure | undefined = () => undefined;
  mostUnacked = 0;

  constructor(...ids: readonly string[]) {
    for (const messageId of ids) this.ready.push(message({ messageId }));
  }

  get ids(): readonly (string | undefined)[] {
    return this.ready.map(({ properties }) => properties.messageId);
  }

  async next() {
    const found = this.ready.shift();
    if (found === undefined) return undefined;
    this.unacked.add(found);
    this.mostUnacked = Math.max(this.mostUnacked, this.unacked.size);
    return {
      ...found,
      redelivered: found.properties.type === 'again',
      ack: () => void this.unacked.delete(found),
      giveBack: () => void (this.unacked.delete(found) && this.ready.push(found)),
    };
  }

  async publish(message: Moving) {
    const failure = this.verdict(message);
    if (failure !== undefined) throw failure;
    this.ready.push(message);
  }

  readonly later: (readonly [id: string | undefined, delay: number])[] = [];

  async publishLater({ properties }: Moving, delay: number) {
    this.later.push([properties.messageId, delay]);
  }

  async close() {}
}

const message = (properties: Properties = {}): Moving => ({ routingKey: 'k', properties, body: Buffer.from('b') });
const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `m${index}`);
const nothingElse = { repeated: [], inDoubt: [], failure: undefined };

describe('a mover', () => {
  it('moves all messages in their order, and acks each', async () => {
    const [from, to] = [new Heap(...ids(250)), new Heap()];
    expect(await new Mover(from, to).run()).toEqual({ moved: 250, ...nothingElse });
    expect(to.ids).toEqual(ids(250));
    expect([from.ready.length, from.unacked.size]).toEqual([0, 0]);
  });

  it('takes no more than the limit, and never more than the window', async () => {
    const [from, to] = [new Heap(...ids(50)), new Heap()];
    expect(await new Mover(from, to, { limit: 20, window: 3 }).run()).toMatchObject({ moved: 20 });
    expect(from.ids).toEqual(ids(50).slice(20));
    expect(from.mostUnacked).toBeLessThanOrEqual(3);
  });

  it('offers a refused message again until it is taken', async () => {
    const [from, to] = [new Heap('a', 'b'), new Heap()];
    let refusals = 2;
    to.verdict = () => (refusals-- > 0 ? new MoveFailure('refused', 'full') : undefined);
    expect(await new Mover(from, to).run()).toEqual({ moved: 2, ...nothingElse });
    expect([...to.ids].sort()).toEqual(['a', 'b']);
  });

  it('gives back what is refused for too long, and ends', async () => {
    const [from, to] = [new Heap(...ids(5)), new Heap()];
    to.verdict = ({ properties }) => (properties.messageId === 'm1' ? new MoveFailure('refused', 'full') : undefined);
    const outcome = await new Mover(from, to, { timeout: 10, window: 2 }).run();
    expect(outcome.failure?.message).toBe('full');
    expect([...from.ids, ...to.ids].sort()).toEqual(ids(5));
    expect(from.ids).toContain('m1');
  });

  it('names what may be in both queues when the target is lost', async () => {
    const [from, to] = [new Heap('a', 'b'), new Heap()];
    from.ready.push(message());
    to.verdict = ({ properties }) => (properties.messageId === 'a' ? undefined : new MoveFailure('lost', 'gone'));
    const { moved, inDoubt, failure } = await new Mover(from, to).run();
    expect([moved, failure?.message]).toEqual([1, 'gone']);
    expect(inDoubt[0]).toBe("message 'b'");
    expect(from.ids).toContain('b');
  });

  it('throws a fault of this program, gives the message back and takes no further ones', async () => {
    const [from, to] = [new Heap(...ids(5)), new Heap()];
    to.publish = () => Promise.reject(new TypeError('a fault'));
    await expect(new Mover(from, to, { rate: 20 }).run()).rejects.toThrow('a fault');
    expect([from.ids, from.unacked.size]).toEqual([[...ids(5).slice(1), 'm0'], 0]);
  });

  it('names what had been delivered before', async () => {
    const [from, to] = [new Heap('a'), new Heap()];
    from.ready.push(message({ messageId: 'b', type: 'again' }), message({ type: 'again' }));
    expect((await new Mover(from, to).run()).repeated).toEqual([
      "message 'b'",
      "message 3 of this move, without an id (routing key 'k', 1 bytes)",
    ]);
  });

  it('ends when it is stopped, and loses nothing', async () => {
    const [from, to] = [new Heap(...ids(100)), new Heap()];
    const mover = new Mover(from, to, { window: 1 });
    to.verdict = () => {
      if (to.ready.length === 9) mover.stop();
      return undefined;
    };
    expect(await mover.run()).toEqual({ moved: 10, ...nothingElse });
    expect([...to.ids, ...from.ids]).toEqual(ids(100));
  });

  it('sends what is delayed with the rest of its delay, and at once when that is over', async () => {
    const [from, to] = [new Heap(), new Heap()];
    const delayed = (messageId: string, delay: number): Moving => ({
      ...message({ messageId }),
      due: Date.now() + delay,
    });
    from.ready.push(delayed('due', -1_000), delayed('later', 60_000));
    expect(await new Mover(from, to, { stripDeaths: true }).run()).toEqual({ moved: 2, ...nothingElse });
    expect(to.ids).toEqual(['due']);
    expect(to.later).toEqual([['later', expect.closeTo(60_000, -3)]]);
  });

  it('keeps to its rate', async () => {
    const [from, to] = [new Heap(...ids(11)), new Heap()];
    const began = performance.now();
    await new Mover(from, to, { rate: 100 }).run();
    expect(performance.now() - began).toBeGreaterThanOrEqual(95);
  });

  it('keeps every header, or takes the deaths out of them', async () => {
    const headers: FieldTable = new Map([
      ['x-death', longstr('forged')],
      ['x-first-death-queue', longstr('q')],
      ['x-last-death-reason', longstr('expired')],
      ['x-delivery-count', int32(3)],
      ['x-deaths', int32(1)],
      ['__proto__', longstr('mine')],
    ]);
    const moved = async (stripDeaths: boolean, given: FieldTable) => {
      const [from, to] = [new Heap(), new Heap()];
      from.ready.push(message({ messageId: 'a', headers: given }));
      await new Mover(from, to, { stripDeaths }).run();
      return to.ready[0]?.properties;
    };
    expect((await moved(false, headers))?.headers).toBe(headers);
    expect([...((await moved(true, headers))?.headers?.keys() ?? [])]).toEqual(['x-deaths', '__proto__']);
    expect(await moved(true, new Map([['x-death', int32(1)]]))).toEqual({ messageId: 'a' });
  });
});
