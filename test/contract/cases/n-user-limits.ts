import { attempt, contract, hard, since4, type Case } from '../contract.js';
import type { Session } from '../driver.js';

const everything = { configure: '.*', write: '.*', read: '.*' };
const connect = (session: Session) => session.connect({ user: 'bob' });
const tooManyConnections = (limit: number) =>
  hard(530, '10.40', `connection refused for user 'bob': user connection limit (${limit}) is reached`);
const tooManyChannels = (limit: number) => {
  const text = "number of channels opened for user 'bob' has reached the maximum allowed user limit of";
  return since4(hard(530, '0.0', `${text} (${limit})`), hard(530, '0.0', `${text} ${limit}`));
};

/** Section N: what a user may have at a time. */
export const userLimitCases: readonly Case[] = [
  contract(
    'rule N7: a user may have so many connections, and one again when one is gone',
    async (session) => {
      await session.addUser('bob', everything);
      await session.limitUser('bob', { 'max-connections': 1 });
      const first = await connect(session);
      const refused = await attempt(connect(session));
      await first.close();
      await session.settle();
      return [refused, await attempt(connect(session))];
    },
    [tooManyConnections(1), 'ok'],
  ),
  contract(
    'rule N7: 0 connections are none, also without permissions; a negative number is no limit',
    async (session) => {
      await session.addUser('bob');
      await session.limitUser('bob', { 'max-connections': 0 });
      const refused = await attempt(connect(session));
      await session.limitUser('bob', { 'max-connections': -1 });
      return [refused, await attempt(connect(session))];
    },
    [tooManyConnections(0), hard(530, '10.40', "access to vhost 'V' refused for user 'bob'")],
  ),
  contract(
    'rule N7: a user may have so many channels on all its connections together',
    async (session) => {
      await session.addUser('bob', everything);
      await session.limitUser('bob', { 'max-channels': 2 });
      const [one, other] = [await connect(session), await connect(session)];
      const channel = await one.channel();
      await other.channel();
      await channel.close();
      await session.settle();
      await one.channel();
      const refused = (await attempt(other.channel())) as { readonly text: string };
      return { ...refused, text: session.plain(refused.text) };
    },
    tooManyChannels(2),
  ),
];
