import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AmqpChannel } from '../../../amqp/client/api.js';
import { ConsumerSession, type Unsettled } from './session.js';

/** A session, and the server's side of its channel: the tags that are not settled there. */
class Model {
  readonly calls: string[] = [];
  readonly unsettled = new Set<number>();
  readonly #ends: (() => void)[] = [];
  readonly session: ConsumerSession;
  isOpen = true;
  #delivered = 0;

  constructor() {
    const channel = {
      ack: (tag: number, multiple = false) => this.#settles(multiple ? 'ack all to' : 'ack', tag, multiple),
      reject: (tag: number) => this.#settles('reject', tag, false),
      nack: (tag: number) => this.#settles('nack', tag, false),
      cancel: (tag: string) => void this.calls.push(`cancel ${tag}`),
      close: () => {
        this.calls.push('close');
        this.isOpen = false;
      },
    } as unknown as AmqpChannel;
    this.session = new ConsumerSession({ atEndOfTurn: (act) => void this.#ends.push(act) }, channel, undefined);
  }

  deliver(): Unsettled {
    const delivery: Unsettled = { deliveryTag: ++this.#delivered, previous: undefined, next: undefined };
    this.unsettled.add(delivery.deliveryTag);
    this.session.add(delivery);
    return delivery;
  }

  endTurn(): void {
    for (const act of this.#ends.splice(0)) act();
  }

  #settles(verb: string, tag: number, multiple: boolean): void {
    this.calls.push(`${verb} ${tag}`);
    // RabbitMQ closes the channel for a tag that it does not know (rule A4).
    if (!this.isOpen || !this.unsettled.delete(tag)) throw new Error(`${verb} ${tag}: the tag is unknown`);
    if (multiple) for (const each of this.unsettled) if (each < tag) this.unsettled.delete(each);
  }
}

function arrange(deliveries: number) {
  const model = new Model();
  const taken = Array.from({ length: deliveries }, () => model.deliver());
  const ack = (...tags: number[]): void => {
    for (const tag of tags) model.session.ack(taken[tag - 1]!);
  };
  return { model, taken, ack };
}

describe('the acks of a turn', () => {
  it('are one ack when they leave nothing unsettled before them, in whatever order they came', () => {
    const { model, ack } = arrange(5);
    ack(2, 1, 3);
    expect(model.calls).toEqual([]);
    model.endTurn();
    expect(model.calls).toEqual(['ack all to 3']);
    ack(4);
    model.endTurn();
    expect(model.calls).toEqual(['ack all to 3', 'ack 4']);
  });

  it('settle nothing else: those behind an unsettled delivery go one by one', () => {
    const { model, ack } = arrange(6);
    ack(5, 1, 2, 4);
    model.endTurn();
    expect([model.calls, [...model.unsettled]]).toEqual([
      ['ack 5', 'ack 4', 'ack all to 2'],
      [3, 6],
    ]);
  });

  it('are sent before whatever else the session sends', () => {
    const { model, taken, ack } = arrange(8);
    ack(1, 2);
    model.session.reject(taken[2]!);
    ack(4);
    model.session.giveBack(taken[4]!);
    ack(6);
    model.session.cancel('tag');
    ack(7, 8);
    model.session.cancelled();
    model.endTurn();
    const settled = ['ack all to 2', 'reject 3', 'ack 4', 'nack 5', 'ack 6', 'cancel tag', 'ack all to 8', 'close'];
    expect(model.calls).toEqual(settled);
  });

  it('leave the server with the same unsettled deliveries as the session, whatever is settled how and when', () => {
    const step = fc.constantFrom('deliver', 'ack', 'reject', 'giveBack', 'replace', 'end of turn');
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.nat()), { maxLength: 120 }), (steps) => {
        const model = new Model();
        const open: Unsettled[] = [];
        for (const [what, number] of steps) {
          const index = number % Math.max(1, open.length);
          if (what === 'deliver') open.push(model.deliver());
          else if (what === 'end of turn') model.endTurn();
          else {
            const [delivery] = open.splice(index, 1);
            if (delivery === undefined) continue;
            if (what !== 'replace') model.session[what](delivery);
            else {
              // The server has acked it in the step that published its successor.
              model.unsettled.delete(delivery.deliveryTag);
              model.session.settled(delivery);
            }
          }
          if (what === 'end of turn') expect([...model.unsettled]).toEqual(open.map(({ deliveryTag }) => deliveryTag));
        }
        model.endTurn();
        expect([...model.unsettled]).toEqual(open.map(({ deliveryTag }) => deliveryTag));
        expect(model.session.isIdle).toBe(open.length === 0);
      }),
      { numRuns: 500 },
    );
  });
});
