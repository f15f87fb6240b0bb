import {
  emptyTable,
  type Field,
  type FieldTable,
  int32,
  longstr,
  PackedTable,
  type Properties,
} from '../../libs/dlx-broker/src/engine/message/index.js';
import { Random } from '../fuzz/random.js';

/** Neighbours with the same of these properties. */
const run = 8;
/** Message ids of a workload begin with a number. */
const numberOf = (messageId: string): number => Number.parseInt(messageId, 10);

/**
 * Properties that differ from message to message: ids, timestamps and headers, as clients set them. The id of the message determines them, so
 * they take nothing from the random numbers of a program.
 */
function differingProperties(messageId: string): Properties {
  const number = numberOf(messageId);
  const random = new Random(number);
  const group = Math.floor(number / run);
  switch (group % 6) {
    case 0:
      return {};
    case 1:
      return { correlationId: uuidBy(random), timestamp: 1_700_000_000 + random.integer(-9, 9) };
    case 2:
      return { headers: tableOf(number, random), type: random.pick(['order', 'order.paid', 'commande payée', '']) };
    case 3:
      return { headers: PackedTable.of(tableOf(number, random)), replyTo: `amq.gen-${number}` };
    case 4:
      return { headers: sharedIn(group) };
    default:
      return {
        appId: 'shop',
        timestamp: random.pick([1, 2n ** 63n, 1_700_000_000]),
        correlationId: random.pick(['', uuidBy(random), `c-${number}`, uuidBy(random).toUpperCase()]),
      };
  }
}

const shared: { group: number; headers: FieldTable } = { group: -1, headers: emptyTable };

/** One object for neighbours, as messages that fail together have it. */
function sharedIn(group: number): FieldTable {
  if (shared.group !== group) {
    shared.group = group;
    shared.headers = tableOf(group, new Random(group));
  }
  return shared.headers;
}

/** The properties of a message that a workload publishes. */
export const propertiesBy = (messageId: string, random: Random): Properties => ({
  ...differingProperties(messageId),
  messageId,
  deliveryMode: random.chance(0.85) ? 2 : 1,
  ...(random.chance(0.3) && { priority: random.integer(0, 4) }),
  ...(random.chance(0.2) && { expiration: String(random.integer(0, 60)) }),
  ...(random.chance(0.3) && { headers: new Map<string, Field>([['__proto__', longstr(messageId)]]) }),
});

const tableOf = (number: number, random: Random): FieldTable =>
  new Map<string, Field>([
    ['tenant', longstr('a')],
    ['trace', longstr(`00-${uuidBy(random)}-01`)],
    ['attempt', int32(number)],
    ...(random.chance(0.2) ? [['more', { type: 'A', value: [int32(1)] }] as const] : []),
  ]);

function uuidBy(random: Random): string {
  const digits = Array.from({ length: 32 }, () => random.integer(0, 15).toString(16)).join('');
  return [0, 8, 12, 16, 20].map((from, part, all) => digits.slice(from, all[part + 1])).join('-');
}
