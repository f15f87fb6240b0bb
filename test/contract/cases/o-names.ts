import { attempt, bodies, contract, send, soft, type Case } from '../contract.js';
import type { Session, TestChannel } from '../driver.js';

/** 255 bytes in 128 characters. */
const longest = `${'é'.repeat(127)}x`;

/** Each attempt on a channel of its own, for a refusal ends it. */
async function attempts(
  session: Session,
  ...actions: readonly ((channel: TestChannel) => Promise<unknown>)[]
): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const action of actions) results.push(await attempt(action(await session.channel())));
  return results;
}

const noQueue = (at: string, name: string) => soft(404, at, `no queue '${name}' in vhost 'V'`);
const noExchange = (at: string, name: string) => soft(404, at, `no exchange '${name}' in vhost 'V'`);
const notDefault = (at: string) => soft(403, at, 'operation not permitted on the default exchange');

/** What else names may be: empty, long, in any script, with line ends. */
export const nameCases: readonly Case[] = [
  contract(
    'rule O3: line ends alone are an empty name, and hide no reserved one',
    async (session, channel) => [
      session.plain((await channel.declareQueue('\r\n')).queue),
      ...(await attempts(
        session,
        (other) => other.declareExchange('\n', 'fanout'),
        (other) => other.declareQueue('am\nq.x'),
      )),
    ],
    ['amq.gen-NAME', notDefault('40.10'), soft(403, '50.10', "queue name 'amq.x' contains reserved prefix 'amq.*'")],
  ),
  contract(
    'rule O3: declaring, binding and deleting strip line ends; purging, getting, consuming and publishing do not',
    async (session, channel) => {
      await channel.declareQueue('ab');
      const found = await attempts(
        session,
        (other) => other.declareQueue('a\nb', { passive: true }),
        (other) => other.purgeQueue('a\nb'),
        (other) => other.get('a\nb'),
        (other) => other.consume('a\nb'),
        (other) => other.publish('', 'a\nb', { mandatory: false }),
        (other) => other.publish('amq.\nfanout', ''),
      );
      const { messageCount } = await channel.declareQueue('ab');
      await channel.deleteQueue('a\r\nb');
      return [...found, messageCount, await attempt(channel.declareQueue('ab', { passive: true }))];
    },
    [
      'ok',
      noQueue('50.30', 'a\nb'),
      noQueue('60.70', 'a\nb'),
      noQueue('60.20', 'a\nb'),
      'ok',
      noExchange('60.40', 'amq.\nfanout'),
      0,
      noQueue('50.10', 'ab'),
    ],
  ),
  contract(
    'rule O3: a binding strips the line ends of both its names',
    async (session, channel) => {
      await channel.declareExchange('ab', 'fanout');
      await channel.declareExchange('cd', 'fanout');
      for (const queue of ['direct', 'behind']) await channel.declareQueue(queue);
      const count = async (): Promise<number[]> => {
        await channel.publish('ab', '');
        await session.settle();
        return [
          (await channel.declareQueue('direct')).messageCount,
          (await channel.declareQueue('behind')).messageCount,
        ];
      };
      const bound = await attempts(
        session,
        (other) => other.bindQueue('di\nrect', 'a\rb'),
        (other) => other.bindExchange('c\nd', '\r\nab'),
        (other) => other.bindQueue('behind', 'cd\n'),
        (other) => other.bindQueue('\n', 'cd'),
      );
      const first = await count();
      const unbound = await attempts(
        session,
        (other) => other.unbindQueue('di\nrect', 'a\rb'),
        (other) => other.unbindExchange('c\nd', '\r\nab'),
      );
      return [bound, first, unbound, await count()];
    },
    [
      ['ok', 'ok', 'ok', noQueue('50.20', '')],
      [1, 1],
      ['ok', 'ok'],
      [1, 1],
    ],
  ),
  contract(
    'rule O7: names and keys may have 255 bytes, in any script',
    async (session, channel) => {
      const { queue } = await channel.declareQueue(longest);
      await channel.declareExchange(longest, 'topic');
      await channel.bindQueue(longest, longest, longest);
      await send(channel, longest, 'by default');
      await channel.publish(longest, longest, { body: 'by topic' });
      await session.settle();
      const got = await session.drain(longest);
      return [queue === longest, bodies(got), got[1]?.exchange === longest, got[1]?.routingKey === longest];
    },
    [true, ['by default', 'by topic'], true, true],
  ),
  contract(
    'rules P3, O2: an empty name is the default exchange, but asking for a queue passively it is no queue',
    async (session, channel) => {
      await channel.declareQueue('q');
      return [
        await attempt(channel.declareQueue('', { passive: true })),
        ...(await attempts(
          session,
          (other) => other.declareExchange('', 'direct'),
          (other) => other.declareExchange('', 'direct', { passive: true }),
          (other) => other.deleteExchange(''),
          (other) => other.bindQueue('q', ''),
          (other) => other.publish('', ''),
        )),
      ];
    },
    [noQueue('50.10', ''), notDefault('40.10'), notDefault('40.10'), notDefault('40.20'), notDefault('50.20'), 'ok'],
  ),
];
