import { type INestApplicationContext, Injectable, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import {
  Consume,
  DlxBrokerModule,
  type DlxBrokerOptions,
  DlxClient,
  DlxContext,
  DlxRecordBuilder,
  Prefetch,
  QueueArguments,
  rabbitmq,
  Redrives,
  Retry,
} from 'dlx-broker';
import type { Backend } from 'dlx-broker/engine';
import { Account } from './account.js';

/** Every tenth message fails twice, and of a hundred one fails always. */
const fails = (number: number, attempt: number): boolean => isPoison(number) || (number % 10 === 0 && attempt < 3);
/** Some events are published to arrive a second later. */
const isDelayed = (number: number): boolean => number % 20 === 3;

export const isPoison = (number: number): boolean => number % 100 === 7;

/** The time that an event of the negative control waits. */
export const controlDelay = 20_000;

export interface Running {
  readonly app: INestApplicationContext;
  readonly client: DlxClient;
  readonly account: Account;
  /** How often the connection was blocked by an alarm of the server. */
  blocked(): number;
  /** Messages in the parking lot. */
  parked(): Promise<number>;
  /** Mends the cause, and sends what is parked back to where it was published. @returns how many messages went */
  redrive(): Promise<number>;
}

/** The application under test: a queue `orders` with retries after a second, and a parking lot. */
export const safe = (urls: readonly string[]): Promise<Running> => run(urls, 'orders', { clusterTopology: true });

/** The same, and delayed events wait on one node. When it dies, those that are not persistent are lost, each time. */
export const unsafe = (urls: readonly string[]): Promise<Running> => run(urls, 'control', {});

async function run(urls: readonly string[], queue: string, options: DlxBrokerOptions): Promise<Running> {
  const account = new Account();
  const cause = { isMended: false };
  const forRoot = DlxBrokerModule.forRoot({
    logFailures: 'none',
    drainTimeout: '2s',
    ...options,
    broker: rabbitmq({ urls }),
  });
  const module = { module: class {}, imports: [forRoot], providers: [handlersOf(queue, account, cause)] };
  const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
  const client = app.get(DlxClient);
  const lot = `${queue}.parked`;
  let blocked = 0;
  client.status.subscribe((status) => (blocked += status === 'blocked' ? 1 : 0));
  return {
    app,
    client,
    account,
    blocked: () => blocked,
    parked: async () => (await client.unwrap<Backend>().status(lot))?.messages ?? 0,
    redrive: async () => {
      cause.isMended = true;
      return (await app.get(Redrives).start({ from: lot, perSecond: 1_000, circuit: false }).ended).redriven;
    },
  };
}

function handlersOf(queue: string, account: Account, cause: { readonly isMended: boolean }): Type {
  @Injectable()
  class Handlers {
    @Consume({ queue, routingKey: `${queue}.created` })
    @QueueArguments({ 'x-queue-type': 'quorum' })
    @Retry({ attempts: 3, backoff: { type: 'fixed', delay: '1s' }, timeout: '30s' })
    @Prefetch(50)
    created(@Payload() { number }: { number: number }, @Ctx() { attempt, properties }: DlxContext): void {
      if (!cause.isMended && fails(number, attempt)) throw new Error('not yet');
      account.handle(number, properties.messageId);
    }
  }
  return Handlers;
}

/** The most publishes of the publisher that are not confirmed. */
export const mostOpen = 500;

/** Publishes numbered messages at a rate until it is stopped. */
export function publisher({ client, account }: Running, queue: string, rate: number): { stop(): Promise<number> } {
  let [number, outstanding, stopped] = [0, 0, false];
  let idle = (): void => undefined;
  const pause = 20;
  const timer = setInterval(() => {
    for (let left = (rate * pause) / 1_000; left > 0 && outstanding < mostOpen; left -= 1) {
      const mine = number++;
      outstanding += 1;
      account.published();
      const over = (): void => {
        outstanding -= 1;
        if (stopped && outstanding === 0) idle();
      };
      client.emit(`${queue}.created`, { number: mine }, isDelayed(mine) ? { delay: '1s' } : {}).subscribe({
        complete: () => {
          account.confirm(mine);
          over();
        },
        error: () => {
          account.failed.add(mine);
          over();
        },
      });
    }
  }, pause);
  return {
    stop: async () => {
      clearInterval(timer);
      stopped = true;
      if (outstanding > 0) await new Promise<void>((resolve) => (idle = resolve));
      return number;
    },
  };
}

/** Publishes messages that wait in a queue of one node. Those with odd numbers are not persistent. @returns when all are confirmed */
export async function publishWaiting({ client, account }: Running, queue: string, count: number): Promise<void> {
  account.published();
  await Promise.all(
    Array.from({ length: count }, async (_, number) => {
      const record = new DlxRecordBuilder({ number }).setPersistent(number % 2 === 0).build();
      await client.emit(`${queue}.created`, record, { delay: controlDelay }).forEach(() => undefined);
      account.confirm(number);
    }),
  );
}
