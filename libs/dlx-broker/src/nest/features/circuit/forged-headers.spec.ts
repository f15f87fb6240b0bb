import { Injectable, Logger } from '@nestjs/common';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { array, bool, type Field, int32, int64, longstr, table } from '../../../engine/message/index.js';
import {
  editHeaders,
  errorHeaders,
  historyHeaders,
  retryHeaders,
  traceHeaders,
} from '../../../platform/history/index.js';
import { DlxTesting } from '../../../testing.js';
import { Circuit, Consume, DlxBroker, Outbox, Retry } from '../../index.js';

class BankDown extends Error {}

@Injectable()
class Payments {
  calls = 0;

  @Consume('payments')
  @Outbox()
  @Retry({ attempts: 2, backoff: '1s', deadline: '1d' })
  @Circuit({ on: BankDown, atLeast: 1_000_000, pause: '1s', holds: 2 })
  pay(): never {
    throw ++this.calls % 2 === 0 ? new BankDown('away') : new RangeError('no stock of 17');
  }
}

const names: readonly string[] = [retryHeaders, historyHeaders, errorHeaders, editHeaders, traceHeaders].flatMap(
  (headers) => Object.values<string>(headers),
);

const entry = table(
  new Map([
    ['attempt', int32(-1)],
    ['at', int64(9_223_372_036_854_775_807n)],
    ['name', longstr('x')],
  ]),
);

const values: readonly Field[] = [
  int32(-1),
  int32(2_147_483_647),
  int64(9_007_199_254_740_991),
  int64(9_223_372_036_854_775_807n),
  { type: 'd', value: NaN },
  { type: 'd', value: 8.7e15 },
  longstr(''),
  longstr('payments'),
  longstr('\u001b[2J'.repeat(12_000)),
  bool(true),
  array([]),
  array(Array.from({ length: 500 }, () => entry)),
  table(new Map([['a', entry]])),
  { type: 'V', value: undefined },
];

let dlx: DlxTesting | undefined;
afterEach(async () => {
  vi.restoreAllMocks();
  await dlx?.close();
});

describe('headers that a client forged', () => {
  it('keep no message from its parking lot, and fail nothing', async () => {
    const spies = (['warn', 'error'] as const).map((level) => vi.spyOn(Logger.prototype, level));
    dlx = await DlxTesting.create({ providers: [Payments] }, { logger: false });
    const { backend } = dlx.app.get(DlxBroker);
    let count = 0;
    for (const name of names) {
      for (const value of values) {
        for (const more of [[], [[retryHeaders.queue, longstr('payments')] as const]]) {
          const properties = { deliveryMode: 2, headers: new Map([...more, [name, value]]) };
          backend.publish({
            exchange: '',
            routingKey: 'payments',
            properties,
            body: Buffer.from('{}'),
            mandatory: true,
          });
          count++;
        }
      }
    }
    await dlx.advance('6h');
    const [lot, queue] = [dlx.queue('payments.parked'), dlx.queue('payments')];
    expect([lot.ready, queue.ready, queue.unacknowledged]).toEqual([count, 0, 0]);
    const lines = spies.flatMap((spy) => spy.mock.calls.map(([line]) => String(line)));
    expect(lines.filter((line) => /could not|cannot|end of an attempt/.test(line))).toEqual([]);
    for (const letter of lot.letters()) {
      expect(letter.fingerprint).toMatch(/^1:[0-9a-f]{16}$/);
      expect(letter.errors.length).toBeLessThanOrEqual(10);
      expect(letter.failingSince?.toISOString()).toBeDefined();
    }
  });
});
