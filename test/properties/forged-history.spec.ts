import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Field, FieldTable } from '../../libs/dlx-broker/src/engine/message/index.js';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { deathsOf, longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { CountedNames } from '../../libs/dlx-broker/src/nest/testing/counted-names.js';
import { listen } from '../harnesses/listener.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';

const names = fc.constantFrom(
  'count',
  'reason',
  'queue',
  'time',
  'exchange',
  'routing-keys',
  '__proto__',
  'constructor',
  'x',
);
const words = fc.constantFrom('work', 'dead', 'rejected', 'expired', '__proto__', '');

const { field } = fc.letrec<{ field: Field; table: FieldTable }>((tie) => ({
  field: fc.oneof(
    { maxDepth: 5 },
    fc.record({ type: fc.constant('S' as const), value: words }),
    fc.record({
      type: fc.constantFrom('l' as const, 'T' as const),
      value: fc.oneof(fc.maxSafeInteger(), fc.constantFrom(2n ** 63n - 1n, -(2n ** 63n))),
    }),
    fc.record({ type: fc.constantFrom('d' as const, 'f' as const), value: fc.double() }),
    fc.record({ type: fc.constantFrom('I' as const, 'b' as const), value: fc.integer() }),
    fc.record({ type: fc.constant('V' as const), value: fc.constant(undefined) }),
    fc.record({ type: fc.constant('A' as const), value: fc.array(tie('field'), { maxLength: 4 }) }),
    fc.record({ type: fc.constant('F' as const), value: tie('table') }),
  ),
  table: fc.array(fc.tuple(names, tie('field')), { maxLength: 7 }).map((entries) => new Map(entries)),
}));

describe('a history made up by a client', () => {
  it('of any shape is believed or replaced, and never stops the broker (rules H9 to H11, V5)', () => {
    fc.assert(
      fc.property(field, fc.array(field, { maxLength: 3 }), (xDeath, more) => {
        const patterns = { compile: () => ({ matches: () => true }) };
        const broker = new Broker({ clock: new ManualClock(), names: new CountedNames(), patterns });
        const { channel } = listen(broker);
        const args = new Map([
          ['x-dead-letter-exchange', longstr('')],
          ['x-dead-letter-routing-key', longstr('dead')],
        ]);
        channel.declareQueue('dead');
        channel.declareQueue('work', { arguments: args });
        const forged = more.length === 0 ? xDeath : ({ type: 'A', value: [xDeath, ...more] } as const);
        channel.publish('', 'work', { headers: new Map([['x-death', forged]]) }, new Uint8Array());
        channel.reject(channel.get('work')!.deliveryTag, false);
        const [death] = deathsOf(channel.get('dead')!.message.properties.headers);
        expect(death).toMatchObject({ queue: 'work', reason: 'rejected' });
        expect(Number.isInteger(death!.count)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  }, 60_000);
});
