import { args, attempt, bodies, contract, send, since4, soft, workAndDead, type Case } from '../contract.js';
import type { Session } from '../driver.js';

const failed = (reason: string) => ({ status: 400, reason: `Validation failed\n\n${reason}` });

const mild = { pattern: '^q$', definition: { 'max-length': 9 } };
const gone = soft(404, '50.10', "no queue 'q' in vhost 'V'");

/** Rule F13: what a policy must not say. */
const invalid: readonly (readonly [key: string, value: string | number, reason: string])[] = [
  ['message-ttl', -1, '-1 is not a valid message TTL'],
  ['max-length', -1, '-1 is not a valid maximum length'],
  ['max-length-bytes', -1, '-1 is not a valid maximum length in bytes'],
  ['overflow', 'spill', '<<"spill">> is not a valid overflow value'],
  ['dead-letter-exchange', 5, '5 is not a valid dead letter exchange name'],
  ['dead-letter-routing-key', 5, '5 is not a valid dead letter routing key'],
  ['dead-letter-strategy', 'perhaps', '<<"perhaps">> is not a valid dead letter strategy'],
  ['expires', 0, '0 is not a valid queue expiry'],
  ['delivery-limit', -1, '-1 is not a valid delivery limit'],
  ['nonsense', 1, '[{<<"nonsense">>,1}] are not recognised policy settings'],
];

/** Section F: policies. */
export const policyCases: readonly Case[] = [
  contract(
    'rule F7: of the policies that match the one of highest priority applies as a whole; then the next in line',
    async (session, channel) => {
      await session.setPolicy('low', { pattern: '.*', definition: { 'max-length': 1 }, priority: -1 });
      await session.setPolicy('middle', { pattern: '.*', definition: { 'max-length': 2 } });
      await session.setPolicy('high', { pattern: '.*', definition: { 'message-ttl': 600_000 }, priority: 5 });
      await channel.declareQueue('q');
      const lengths: number[] = [];
      const measure = async () => {
        await channel.purgeQueue('q');
        await send(channel, 'q', 'a', 'b', 'c');
        lengths.push(bodies(await session.drain('q')).length);
      };
      await measure();
      await session.clearPolicy('high');
      await measure();
      await session.clearPolicy('middle');
      await measure();
      return lengths;
    },
    [3, 2, 1],
  ),
  contract(
    'rule F8: the pattern is unanchored and the scope must fit',
    async (session, channel) => {
      await session.setPolicy('part', { pattern: 'or', definition: { 'max-length': 1 } });
      await session.setPolicy('exchanges', {
        pattern: 'work',
        definition: { 'alternate-exchange': 'x' },
        applyTo: 'exchanges',
        priority: 9,
      });
      await channel.declareQueue('work');
      await channel.declareQueue('rest');
      await send(channel, 'work', 'a', 'b');
      await send(channel, 'rest', 'a', 'b');
      return [bodies(await session.drain('work')), bodies(await session.drain('rest'))];
    },
    [['b'], ['a', 'b']],
  ),
  contract(
    'rule F8: a policy with a key the queue type lacks does not apply, the next one does',
    async (session, channel) => {
      const limit = { 'delivery-limit': 5, 'max-length': 1 };
      await session.setPolicy('limit', { pattern: 'work', definition: limit, priority: 5 });
      await session.setPolicy('plain', { pattern: 'work', definition: { 'max-length': 2 } });
      await channel.declareQueue('work');
      await send(channel, 'work', 'a', 'b', 'c');
      return bodies(await session.drain('work'));
    },
    ['b', 'c'],
  ),
  contract(
    'rule F8: a policy with queue-mode does not apply to quorum queues',
    async (session, channel) => {
      const lazy = { 'queue-mode': 'lazy', 'max-length': 1 };
      await session.setPolicy('lazy', { pattern: 'work', definition: lazy });
      await channel.declareQueue('work', { durable: true, arguments: args({ 'x-queue-type': 'quorum' }) });
      await send(channel, 'work', 'a', 'b');
      return bodies(await session.drain('work'));
    },
    ['a', 'b'],
  ),
  contract(
    'rule F12: an operator policy is effective alone and merges to the minimum',
    async (session, channel) => {
      await session.setOperatorPolicy('cap', { pattern: 'work', definition: { 'max-length': 2 }, applyTo: 'queues' });
      await workAndDead(channel);
      await send(channel, 'work', 'a', 'b', 'c');
      const alone = bodies(await session.drain('work'));
      await session.setPolicy('user', { pattern: 'work', definition: { 'max-length': 1 } });
      await send(channel, 'work', 'a', 'b', 'c');
      const smaller = bodies(await session.drain('work'));
      await session.setPolicy('user', { pattern: 'work', definition: { 'max-length': 9 } });
      await send(channel, 'work', 'a', 'b', 'c');
      return [alone, smaller, bodies(await session.drain('work'))];
    },
    [['b', 'c'], ['c'], ['b', 'c']],
  ),
  contract(
    'rule F12: an operator policy takes few keys only',
    async (session) => {
      const definition = { 'dead-letter-exchange': 'dlx' };
      const answer = await attempt(session.setOperatorPolicy('dlx', { pattern: '.*', definition, applyTo: 'queues' }));
      return (answer as { status: number }).status;
    },
    400,
  ),
  ...invalid.map(([key, value, reason]) =>
    contract(
      `rule F13: a policy with ${key} ${value} is refused`,
      async (session) => attempt(session.setPolicy('bad', { pattern: '.*', definition: { [key]: value } })),
      key === 'delivery-limit' ? since4(failed(reason), 'ok') : failed(reason), // rule W6
    ),
  ),
  contract(
    'rule F13: an empty definition is refused',
    async (session) => attempt(session.setPolicy('bad', { pattern: '.*', definition: {} })),
    failed('no policy provided'),
  ),
  contract(
    'rule F13: a bad regular expression is refused, and a missing policy cannot be deleted',
    async (session) => {
      const answers = [
        await attempt(session.setPolicy('bad', { pattern: '(', definition: { 'max-length': 1 } })),
        await attempt(session.clearPolicy('absent')),
      ];
      return answers.map((answer) => (answer as { status: number }).status);
    },
    [400, 404],
  ),
  contract(
    'rule F14: x-max-priority cannot be set by policy',
    async (session) => attempt(session.setPolicy('bad', { pattern: '.*', definition: { 'max-priority': 5 } })),
    failed('[{<<"max-priority">>,5}] are not recognised policy settings'),
  ),
  ...(
    [
      ['another one comes', 'ok', (session) => session.setPolicy('more', { ...mild, priority: 2 })],
      [
        'the one in force changes',
        'ok',
        (session) => session.setPolicy('mild', { ...mild, definition: { 'max-length': 8 } }),
      ],
      [
        'the one in force gets another priority',
        'ok',
        (session) => session.setPolicy('mild', { ...mild, priority: 1 }),
      ],
      ['the one in force goes', 'ok', (session) => session.clearPolicy('mild')],
      ['one of the operator comes', 'ok', (session) => session.setOperatorPolicy('o', mild)],
      ['the same is set once more', gone, (session) => session.setPolicy('mild', mild)],
      ['one comes that is not in force', gone, (session) => session.setPolicy('less', { ...mild, priority: -1 })],
      [
        'one comes for another queue',
        gone,
        (session) => session.setPolicy('other', { ...mild, pattern: '^other$', priority: 3 }),
      ],
    ] satisfies (readonly [string, unknown, (session: Session) => Promise<void>])[]
  ).map(([what, expected, change]) =>
    contract(
      `rule B12: the time of an unused queue begins anew when another policy is in force: ${what}`,
      async (session, channel) => {
        await session.setPolicy('mild', mild);
        await channel.declareQueue('q', { arguments: args({ 'x-expires': 1_000 }) });
        await session.elapse(600);
        await change(session);
        await session.elapse(650);
        return attempt(channel.declareQueue('q', { passive: true }));
      },
      expected,
    ),
  ),
];
