import { describe, expect, it, vi } from 'vitest';
import type { Publication } from '../../backends/index.js';
import type { DlxTracing } from './port.js';
import { SafeTracing } from './safe-tracing.js';

const publication: Publication = { exchange: '', routingKey: 'orders', properties: {}, body: Buffer.from('{}') };
const tracing = (methods: object): { readonly safe: SafeTracing; readonly report: ReturnType<typeof vi.fn> } => {
  const report = vi.fn();
  return { safe: new SafeTracing(methods as DlxTracing, report), report };
};

describe('a tracing library of the application', () => {
  it.each([
    ['null', () => null],
    ['no object', () => 'span'],
    ['a span without a publication', () => ({ end: () => undefined })],
    ['a promise', async () => ({ publication, end: () => undefined })],
    [
      'a span that throws',
      () => ({
        get publication() {
          throw new Error('no');
        },
      }),
    ],
  ])('that returns %s makes no span of a publish', (_, published) => {
    const { safe, report } = tracing({ published });
    expect(safe.published(publication)).toBeUndefined();
    expect(report).toHaveBeenCalledTimes(1);
  });

  it('makes no span when it returns undefined, which is no failure', () => {
    const { safe, report } = tracing({ published: () => undefined });
    expect(safe.published(publication)).toBeUndefined();
    expect(report).not.toHaveBeenCalled();
  });

  it.each([[null], ['span'], [7]])('that returns %j makes no span of an attempt and of a redrive', (span) => {
    const { safe, report } = tracing({ startProcess: () => span, redrive: () => span });
    expect(safe.startProcess({} as never)).toBeUndefined();
    expect(safe.redrive(['orders'])).toBeUndefined();
    expect(report).toHaveBeenCalledTimes(1);
  });

  it.each([[7], [{}], ['x'.repeat(257)], [null]])('writes no header %j', (header) => {
    const { safe } = tracing({ startProcess: () => ({ header }) });
    expect(safe.startProcess({} as never)?.header).toBeUndefined();
  });
});
