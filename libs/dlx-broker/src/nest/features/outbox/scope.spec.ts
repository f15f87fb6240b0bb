import { describe, expect, it } from 'vitest';
import type { Collector } from './collector.js';
import { OutboxScope } from './scope.js';

const collector = (): Collector => ({}) as Collector;

describe('the scope of an outbox', () => {
  it('has the collector of the handler that runs, also after an await', async () => {
    const scope = new OutboxScope();
    const own = collector();
    expect(scope.current).toBeUndefined();
    const seen = await scope.run(own, async () => {
      await Promise.resolve();
      return scope.current;
    });
    expect(seen).toBe(own);
    expect(scope.current).toBeUndefined();
  });

  it('does not see the collector of another application of the same process', () => {
    const [first, second] = [new OutboxScope(), new OutboxScope()];
    const [ofFirst, ofSecond] = [collector(), collector()];
    first.run(ofFirst, () => {
      expect(second.current).toBeUndefined();
      second.run(ofSecond, () => {
        expect(second.current).toBe(ofSecond);
        expect(first.current).toBe(ofFirst);
      });
    });
  });

  it('hides only the collector of its own application from code that is not the handler', () => {
    const [first, second] = [new OutboxScope(), new OutboxScope()];
    const [ofFirst, ofSecond] = [collector(), collector()];
    first.run(ofFirst, () =>
      second.run(ofSecond, () =>
        first.leave(() => {
          expect(first.current).toBeUndefined();
          expect(second.current).toBe(ofSecond);
        }),
      ),
    );
  });
});
