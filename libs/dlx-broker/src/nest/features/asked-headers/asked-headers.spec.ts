import { Injectable } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { firstValueFrom } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { toFieldTable } from '../../../engine/message/index.js';
import { Consume, DeadLetter, DlxContext, Park, Reject, Retry, RetryLater } from '../../index.js';
import { DeadLetters, redriveTo } from '../../streams/index.js';
import { DlxTesting } from '../../testing/dlx-testing.js';

const running: DlxTesting[] = [];
afterEach(async () => {
  for (const dlx of running.splice(0)) await dlx.close();
});

/** An application whose handler of `work` does what the test says. */
async function arrange(work: (context: DlxContext) => unknown, above: readonly MethodDecorator[] = []) {
  const seen: unknown[] = [];
  @Injectable()
  class Worker {
    handle(@Payload() _: unknown, @Ctx() context: DlxContext): unknown {
      seen.push(context.state);
      return work(context);
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Worker.prototype, 'handle')!;
  for (const decorate of [Consume('work') as MethodDecorator, ...above])
    decorate(Worker.prototype, 'handle', descriptor);
  const dlx = await DlxTesting.create(
    { providers: [Worker] },
    { logger: false, transport: { topology: { queues: ['dead'] } } },
  );
  running.push(dlx);
  return { dlx, seen };
}

async function redrive(dlx: DlxTesting, queue: string): Promise<void> {
  await firstValueFrom(dlx.app.get(DeadLetters).from(queue).pipe(redriveTo('work')));
  await dlx.settled();
}

describe('the state of a message', () => {
  const retried = Retry({ attempts: 4, backoff: '1s' });

  it('is what the last RetryLater with a state left, also after other errors, and on the parked message', async () => {
    const { dlx, seen } = await arrange(
      ({ attempt }) => {
        if (attempt === 1) throw new RetryLater('1m', { state: { page: 1 } });
        if (attempt === 2) throw new RetryLater('1m', { reason: 'the next one', state: { page: 2 } });
        throw new Error('no');
      },
      [retried],
    );
    await dlx.publish('work', {});
    await dlx.advance('10m');
    expect(seen).toEqual([undefined, { page: 1 }, { page: 2 }, { page: 2 }]);
    expect(dlx.deadLetters('work.parked')[0]?.headers['dlx-state']).toBe('{"page":2}');
  });

  it('begins anew after a redrive', async () => {
    const { dlx, seen } = await arrange(() => {
      if (seen.length === 1) throw new RetryLater(0, { state: 1 });
      if (seen.length === 2) throw new Park('enough');
    }, [retried]);
    await dlx.publish('work', {});
    await dlx.settled();
    await redrive(dlx, 'work.parked');
    expect(seen).toEqual([undefined, 1, undefined]);
  });

  it('survives the wait of the policy, which the queue makes by a reject', async () => {
    const { dlx, seen } = await arrange(() => {
      if (seen.length < 3) throw new RetryLater('1s', { state: seen.length });
    }, [retried]);
    await dlx.publish('work', {});
    await dlx.advance('5s');
    expect(seen).toEqual([undefined, 1, 2]);
  });

  it('belongs to the attempts of one queue, and what is no JSON is none', async () => {
    const { dlx, seen } = await arrange(() => undefined);
    const headers = { 'dlx-queue': 'work', 'dlx-attempt': 2, 'dlx-state': '[1]' };
    for (const forged of [headers, { ...headers, 'dlx-queue': 'other' }, { ...headers, 'dlx-state': '{' }]) {
      await dlx.publish('work', {}, { headers: toFieldTable(forged) });
    }
    await dlx.settled();
    expect(seen).toEqual([[1], undefined, undefined]);
  });

  it('is JSON of 8 KiB at most', () => {
    const circle: unknown[] = [];
    circle.push(circle);
    for (const state of [circle, () => 1, 1n])
      expect(() => new RetryLater(1, { state })).toThrow(/^RetryLater: its state has no JSON/);
    expect(() => new RetryLater(1, { state: 'x'.repeat(8_190) })).not.toThrow();
    expect(() => new RetryLater(1, { state: 'x'.repeat(8_191) })).toThrow(
      'RetryLater: its state has 8193 bytes, and 8192 is the most; write a small object',
    );
    expect(() => new RetryLater(1, { stat: 1 } as object)).toThrow(/'stat' is no option; did you mean 'state'/);
    expect(new RetryLater('1s', 'why').message).toBe('why');
  });
});

describe('headers of an exception', () => {
  const headers = { ticket: 'A-1', weight: 2 };

  it.each([
    ['a parked message', 'work.parked', [Retry({ attempts: 2 })], () => new Park('why', { headers })],
    ['a parked message by Reject', 'work.parked', [Retry({ attempts: 2 })], () => new Reject('why', { headers })],
    ['a dead letter', 'dead', [DeadLetter('', 'dead')], () => new Reject('why', { headers })],
  ] as const)('are on %s, and stay at a redrive', async (_, queue, above, error) => {
    let calls = 0;
    const again: unknown[] = [];
    const { dlx } = await arrange((context) => {
      again.push(context.headers['ticket']);
      if (++calls === 1) throw error();
    }, above);
    await dlx.publish('work', {});
    await dlx.settled();
    expect(dlx.deadLetters(queue)[0]?.headers).toMatchObject(headers);
    await redrive(dlx, queue);
    expect(again).toEqual([undefined, 'A-1']);
  });

  it.each(['x-death', 'x-first-death-queue', 'dlx-attempt', 'CC'])('may not be those of the broker: %s', (name) => {
    expect(() => new Park('why', { headers: { [name]: 'x' } })).toThrow(`headers of Park: '${name}' is locked`);
    expect(() => new Reject('why', { headers: { [name]: 'x' } })).toThrow(`headers of Reject: '${name}' is locked`);
  });

  it('are refused without a wire type, and by a wrong option', () => {
    expect(() => new Park('why', { headers: { when: Symbol('x') } })).toThrow(/headers of Park: 'when'/);
    expect(() => new Park('why', { header: {} } as object)).toThrow(/did you mean 'headers'/);
    expect(() => new Park('why', 'more' as unknown as object)).toThrow(/is not an object of options/);
  });
});
