import { Injectable } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { describe, expect, it } from 'vitest';
import { DlxTesting } from '../../testing/index.js';
import { Consume, DlxContext, Ordered, Prefetch, Retry } from '../index.js';

interface Step {
  readonly key: string | null;
  readonly n: number;
  /** The number of failures before a success. */
  readonly fails?: number;
}

@Injectable()
class Steps {
  readonly seen: string[] = [];
  readonly running = new Map<string | null, number>();
  most = 0;
  readonly begun = new Map<string, number>();

  @Consume('steps')
  @Prefetch(4)
  @Retry({ attempts: 4, backoff: ['20s', '20s', '20s'] })
  @Ordered({ key: (step: Step) => step.key, window: 20 })
  async handle(@Payload() { key, n, fails = 0 }: Step, @Ctx() context: DlxContext): Promise<void> {
    const running = (this.running.get(key) ?? 0) + 1;
    this.running.set(key, running);
    if (key !== null) expect(running).toBe(1);
    this.most = Math.max(
      this.most,
      [...this.running.values()].reduce((sum, each) => sum + each, 0),
    );
    await Promise.resolve();
    this.running.set(key, running - 1);
    if (context.attempt <= fails)
      throw new Error(`${n} fails at ${context.attempt}, after ${context.lastError?.message}`);
    this.seen.push(`${key}${n}`);
  }
}

const arrange = async () => {
  const dlx = await DlxTesting.create({ providers: [Steps] }, { logger: false });
  return { dlx, steps: dlx.app.get(Steps), publish: (step: Step) => dlx.publish('steps', step) };
};

describe('handlers with @Ordered', () => {
  it('hold up the key of a message that is tried again for a minute, and no other key', async () => {
    const { dlx, steps, publish } = await arrange();
    await publish({ key: 'A', n: 1, fails: 3 });
    await publish({ key: 'A', n: 2 });
    for (const key of ['B', 'C', 'D', 'E']) await publish({ key, n: 1 });
    await dlx.advance('1s');
    expect(steps.seen).toEqual(['B1', 'C1', 'D1', 'E1']);
    expect([dlx.queue('steps').ready, dlx.queue('steps').unacknowledged]).toEqual([0, 2]);
    await dlx.advance('1m');
    expect(steps.seen.slice(4)).toEqual(['A1', 'A2']);
    expect(dlx.queue('steps').unacknowledged).toBe(0);
    await dlx.close();
  });

  it('park after the last attempt, with what was counted in the process, and go on with the key', async () => {
    const { dlx, steps, publish } = await arrange();
    await publish({ key: 'A', n: 1, fails: 9 });
    await publish({ key: 'A', n: 2 });
    await dlx.advance('1m');
    expect(steps.seen).toEqual(['A2']);
    const [letter] = dlx.deadLetters<Step>('steps.parked');
    expect(letter).toMatchObject({ payload: { n: 1 } });
    expect(letter!.headers).toMatchObject({
      'dlx-attempt': 4,
      'dlx-error-message': '1 fails at 4, after 1 fails at 3, after 1 fails at 2, after 1 fails at 1, after undefined',
    });
    await dlx.close();
  });
});
