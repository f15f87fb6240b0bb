import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { policyPatterns, randomNames, SystemClock } from '../../libs/dlx-broker/src/platform/index.js';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { type HttpListener, listenHttp } from '../../libs/dlx-broker/src/server/index.js';
import { exportBroker } from '../../libs/dlx-broker/src/server/definitions/export.js';
import { guestOf, addUsers } from '../../libs/dlx-broker/src/platform/logins/index.js';
import { runCtl } from '../ctl/run.js';
import { everything, put, remove, type Turn } from '../management/access-turns.js';
import { Talk } from '../management/talk.js';
import { furniture, named, type Road, rights, table, type Tag, tags } from './roads.js';

const rabbitmq = process.env['RABBITMQ_MANAGEMENT_URL'];
const setUp: readonly Turn[] = [
  put('/vhosts/{v}'),
  ...tags.flatMap((tag) => [
    put(`/users/{u}${tag}`, { password: 'secret', tags: tag === 'none' ? '' : tag }),
    put(`/permissions/{v}/{u}${tag}`, everything),
  ]),
];
const tearDown: readonly Turn[] = [
  remove('/vhosts/{v}'),
  remove('/vhosts/{v}-new'),
  remove('/global-parameters/{u}one'),
  ...[...tags, 'bob'].map((tag) => remove(`/users/{u}${tag}`)),
];

const isRefusal = (status: number): boolean => status === 401 || status === 403;
const titleOf = ({ turn }: Pick<Road, 'turn'>): string =>
  `${turn.method} ${turn.path} ${turn.body === undefined ? '' : JSON.stringify(turn.body)}`;

describe('who may do what does not depend on the road', () => {
  let broker: Broker;
  let listener: HttpListener;
  let ours: Talk;
  let theirs: Talk | undefined;
  const say = async (turn: Turn): Promise<void> => void (await Promise.all([ours.say(turn), theirs?.say(turn)]));
  beforeAll(async () => {
    broker = new Broker({ rabbitmq: '3.10', clock: new SystemClock(), names: randomNames, patterns: policyPatterns });
    addUsers(broker, [guestOf('/')]);
    listener = await listenHttp({ broker, now: Date.now, patterns: policyPatterns }, { port: 0 });
    ours = new Talk(`http://guest:guest@127.0.0.1:${listener.port}`);
    theirs = rabbitmq === undefined ? undefined : new Talk(rabbitmq);
    for (const turn of setUp) await say(turn);
  });
  afterAll(async () => {
    for (const turn of tearDown) await say(turn);
    await listener.close();
    broker.close();
  });

  /** What is declared; the hash of a password set again is another. */
  const declared = (): string => JSON.stringify(exportBroker(broker));

  async function check(road: Road, tag: Tag): Promise<void> {
    const { turn, right, before = [], isOurs, stricter } = road;
    // What RabbitMQ is not asked, it is not prepared for: it is shared.
    for (const each of before) await (isOurs === true ? ours.say(each) : say(each));
    const had = declared();
    const { status } = await ours.say({ ...turn, as: tag });
    const mayPass = (rights[right] as readonly Tag[]).includes(tag);
    expect(isRefusal(status), `${tag} is answered ${status}`).toBe(!mayPass);
    if (mayPass) expect(status, 'the road leads there').toBeLessThan(300);
    else expect(declared(), 'a refusal changes nothing').toBe(had);
    if (theirs === undefined || isOurs === true) return;
    const answer = await theirs.say({ ...turn, as: tag });
    if (stricter === undefined || mayPass) expect(status, 'RabbitMQ').toBe(answer.status);
  }

  for (const [object, roads] of Object.entries(table)) {
    describe(object, () => {
      it.each(roads.map((road) => [titleOf(road), road] as const))('%s', { retry: 0 }, async (_, road) => {
        for (const tag of tags) await check(road, tag);
      });
    });
  }

  describe('nor do names that are closed to the user', () => {
    beforeAll(async () => {
      for (const turn of furniture) await say(turn);
    });
    it.each(named.map((row) => [titleOf(row), row] as const))(
      '%s',
      { retry: 0 },
      async (_, { turn, passes, isOurs }) => {
        const had = declared();
        const { status, body } = await ours.say({ ...turn, as: 'policymaker' });
        // What closes a channel is a bad request over HTTP, as in RabbitMQ.
        const isRefused = isRefusal(status) || (status === 400 && JSON.stringify(body).includes('403 ACCESS_REFUSED'));
        expect(isRefused, JSON.stringify(body)).toBe(!passes);
        if (!passes) expect(declared()).toBe(had);
        if (theirs === undefined || isOurs === true) return;
        expect(await theirs.say({ ...turn, as: 'policymaker' })).toMatchObject({ status, body: body as never });
      },
    );
  });

  it.each(tags.map((tag) => [tag]))('as %s ctl gets no further than HTTP', { retry: 0 }, async (tag) => {
    const verbs = [
      [['set_operator_policy', '-p', ours.named('{v}'), 'c', '^a', '{"max-length":5}'], 'administrator'],
      [['set_vhost_limits', '-p', ours.named('{v}'), '{"max-queues":900}'], 'administrator'],
      [['clear_parameter', '-p', ours.named('{v}'), 'operator_policy', 'c'], 'administrator'],
      [['set_policy', '-p', ours.named('{v}'), 'c', '^a', '{"max-length":5}'], 'policymaker'],
      [['set_user_tags', ours.named('{u}none'), 'administrator'], 'administrator'],
      [['set_permissions', '-p', ours.named('{v}'), ours.named('{u}none'), '.*', '.*', '.*'], 'administrator'],
    ] as const;
    for (const [words, right] of verbs) {
      const env = {
        DLX_BROKER_URL: `http://127.0.0.1:${listener.port}`,
        DLX_BROKER_USER: ours.named(`{u}${tag}`),
        DLX_BROKER_PASSWORD: 'secret',
      };
      const { code, errors } = await runCtl(words, env);
      const mayPass = (rights[right] as readonly Tag[]).includes(tag);
      expect(code === 0, `${words.join(' ')}: ${errors}`).toBe(mayPass);
      if (words[0] === 'set_user_tags' && mayPass)
        await ours.say(put('/users/{u}none', { password: 'secret', tags: '' }));
    }
  });
});
