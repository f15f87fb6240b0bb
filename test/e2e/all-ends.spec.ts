import { Injectable, type INestApplicationContext, type Type } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DeadLetter, DlxBroker, DlxContext, Retry } from 'dlx-broker';
import { beforeAll, describe, expect, it } from 'vitest';
import { contextApp, keepApps } from './apps.js';
import { attempts, cases, fails, isAsked, styles } from './bounded-cases.js';
import { freshBroker, missing, until } from './places.js';

/*
 * The cases of `bounded-attempts.spec.ts` in real time, so that they also run on servers: one application has a queue for each of
 * them. After the application was closed, a second one looks where the messages are.
 */

const second = 40; // milliseconds

const rows = Object.entries(styles(second))
  .filter(([name]) => ['by reject', 'by republishing', 'beside @DeadLetter'].includes(name))
  .flatMap(([styleName, style]) =>
    Object.entries(cases(second)).map(([name, given], index) => ({
      name: `${styleName}: ${name}`,
      style,
      given,
      queue: `${styleName.replaceAll(/\W/g, '')}-${index}`,
      ran: 0,
    })),
  );
type Row = (typeof rows)[number];

function workerOf(row: Row): Type {
  const { style, given, queue } = row;
  const { work, above = [], scope } = given;
  @Injectable(scope === undefined ? {} : { scope })
  class Worker {
    constructor() {
      if (scope !== undefined) fails();
    }

    handle(@Payload() data: unknown, @Ctx() context: DlxContext): unknown {
      if (++row.ran > 20) return; // it goes round: the case fails below
      return data === undefined ? undefined : work(context);
    }
  }
  const decorators = [
    Consume(queue),
    Retry({ attempts, ...style.policy, ...given.policy }),
    ...(style.own === undefined ? [] : [DeadLetter('', `${queue}.dead`)]),
    ...above,
  ];
  const descriptor = Object.getOwnPropertyDescriptor(Worker.prototype, 'handle')!;
  for (const decorate of decorators) (decorate as MethodDecorator)(Worker.prototype, 'handle', descriptor);
  return Worker;
}

/** Where the message has to be in the end, and how often its handler has to run. */
function expectedOf({ style, given }: Row) {
  const { runs = attempts } = isAsked(style, given) ? given : {};
  const isRejected = given.rejects === true && style.own !== undefined;
  const place = isRejected ? 'dead' : (given.ends ?? 'parked');
  return { runs, place };
}

async function placesOf(app: INestApplicationContext, { queue }: Row): Promise<readonly string[]> {
  const { backend } = app.get(DlxBroker);
  const found: string[] = [];
  for (const [place, name] of Object.entries({ work: queue, parked: `${queue}.parked`, dead: `${queue}.dead` })) {
    const messages = (await backend.status(name))?.messages ?? 0;
    for (let count = 0; count < messages; count++) found.push(place);
  }
  return found;
}

describe('a message under a retry policy, in real time: bounded, and in one place at the end', () => {
  let observer: INestApplicationContext;

  beforeAll(async () => {
    if (missing !== undefined) return;
    const broker = freshBroker();
    const queues = rows.filter(({ style }) => style.own !== undefined).map(({ queue }) => `${queue}.dead`);
    const app = await contextApp({ providers: rows.map(workerOf), options: { broker, topology: { queues } } });
    observer = await contextApp({ options: { broker } });
    keepApps();
    const { backend } = app.get(DlxBroker);
    await Promise.all(
      rows.map(({ queue, given: { body } }) => {
        const properties = { messageId: queue, ...(body && { contentType: 'application/json' }) };
        const message = { exchange: '', routingKey: queue, properties, body: body ?? Buffer.from('{"id":1}') };
        return new Promise<void>((resolve, reject) =>
          backend.publish({ ...message, mandatory: true }, (failure) => (failure ? reject(failure) : resolve())),
        );
      }),
    );
    const wanted = rows.filter((row) => expectedOf(row).place !== 'gone');
    await until(async () => {
      for (const row of wanted) expect(await placesOf(observer, row)).toHaveLength(1);
      for (const row of rows) expect(row.ran).toBeGreaterThanOrEqual(expectedOf(row).runs);
    }).catch(() => undefined); // each case says below what is missing
    await new Promise((resolve) => setTimeout(resolve, 5 * second)); // what goes round runs again
    await app.close(); // and returns what it has in hand
  });

  it.each(rows)('$name', async (row) => {
    const { runs, place } = expectedOf(row);
    expect(row.ran).toBe(runs);
    expect(await placesOf(observer, row)).toEqual(place === 'gone' ? [] : [place]);
  });
});
