import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { policyPatterns, randomNames, SystemClock } from '../../libs/dlx-broker/src/platform/index.js';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { type HttpListener, listenHttp } from '../../libs/dlx-broker/src/server/index.js';
import { guestOf, addUsers } from '../../libs/dlx-broker/src/platform/logins/index.js';
import { conversation } from './access-conversation.js';
import type { Turn } from './access-turns.js';
import { Talk } from './talk.js';

const rabbitmq = process.env['RABBITMQ_MANAGEMENT_URL'];
if (rabbitmq === undefined) console.warn('No RABBITMQ_MANAGEMENT_URL: nothing is compared with RabbitMQ');

describe.skipIf(rabbitmq === undefined)('what RabbitMQ answers, we answer:', () => {
  let broker: Broker;
  let listener: HttpListener;
  let theirs: Talk;
  let ours: Talk;
  beforeAll(async () => {
    broker = new Broker({ rabbitmq: '3.10', clock: new SystemClock(), names: randomNames, patterns: policyPatterns });
    addUsers(broker, [guestOf('/')]);
    listener = await listenHttp({ broker, now: Date.now, patterns: policyPatterns }, { port: 0 });
    theirs = new Talk(rabbitmq ?? '');
    ours = new Talk(`http://guest:guest@127.0.0.1:${listener.port}`);
  });
  afterAll(async () => {
    await listener.close();
    broker.close();
  });

  // One conversation: what is said first is what later turns speak of, so a turn is never said twice.
  describe.each(conversation)('%s', (_, turns) => {
    it.each(turns.map((turn, at) => [titleOf(turn, at), turn] as const))('%s', { retry: 0 }, async (__, turn) => {
      const [expected, actual] = await Promise.all([theirs.say(turn), ours.say(turn)]);
      expect(actual).toEqual(expected);
    });
  });
});

function titleOf({ as, method, path, body, headers }: Turn, at: number): string {
  const said = body === undefined ? '' : ` ${typeof body === 'string' ? body : JSON.stringify(body).slice(0, 90)}`;
  return `${at}. ${as ?? 'guest'}: ${method} ${path}${said}${headers === undefined ? '' : ` ${JSON.stringify(headers)}`}`;
}
