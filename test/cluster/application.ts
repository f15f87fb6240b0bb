import { Injectable, type INestApplicationContext, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import {
  Consume,
  DlxBrokerModule,
  type DlxBrokerOptions,
  DlxClient,
  DlxContext,
  Prefetch,
  QueueArguments,
  rabbitmq,
  Redrives,
  Retry,
} from 'dlx-broker';
import type { Backend } from 'dlx-broker/engine';

/** What became of numbered messages. */
export class Account {
  readonly confirmed = new Set<number>();
  /** These publishes failed: their messages may have arrived or not. */
  readonly failed = new Set<number>();
  /** How often a message was handled without an error. */
  readonly handled = new Map<number, number>();
  /** The cause of the failures is mended: no message fails any more. */
  isMended = false;
  /** Milliseconds: the longest time without a confirm while messages were published, by what was done to the nodes. */
  readonly longestGaps = new Map<string, number>();
  /** What is done to the nodes now. */
  phase = 'start';
  #lastConfirm = 0;

  published(): void {
    if (this.#lastConfirm === 0) this.#lastConfirm = performance.now();
  }

  confirm(number: number): void {
    const now = performance.now();
    const gap = Math.max(this.longestGaps.get(this.phase) ?? 0, now - this.#lastConfirm);
    this.longestGaps.set(this.phase, gap);
    this.#lastConfirm = now;
    this.confirmed.add(number);
  }

  /** What was confirmed and not handled yet: at the end these are lost. */
  get missing(): readonly number[] {
    return [...this.confirmed].filter((number) => !this.handled.has(number));
  }

  get duplicates(): number {
    return [...this.handled.values()].reduce((sum, times) => sum + times - 1, 0);
  }
}

/** Every tenth message fails twice, and of a hundred one fails always. */
const fails = (number: number, attempt: number): boolean => isPoison(number) || (number % 10 === 0 && attempt < 3);
/** Some events are published to arrive a second later. */
const isDelayed = (number: number): boolean => number % 20 === 3;

export const isPoison = (number: number): boolean => number % 100 === 7;

export interface Running {
  readonly app: INestApplicationContext;
  readonly client: DlxClient;
  readonly account: Account;
  /** Messages in the parking lot. */
  parked(): Promise<number>;
  /** Mends the cause, and sends what is parked back to where it was published. @returns how many messages went */
  redrive(): Promise<number>;
}

/** The application under test: a queue `orders` with retries after a second, and a parking lot. */
export const safe = (urls: readonly string[]): Promise<Running> => run(urls, 'orders', { clusterTopology: true });

/** The same as many begin: wait queues of one node, which dead-letter at most once. It loses messages when a leader dies. */
export const unsafe = (urls: readonly string[]): Promise<Running> => run(urls, 'control', {});

async function run(urls: readonly string[], queue: string, options: DlxBrokerOptions): Promise<Running> {
  const account = new Account();
  const broker = rabbitmq({ urls });
  const forRoot = DlxBrokerModule.forRoot({ logFailures: 'none', drainTimeout: '2s', ...options, broker });
  const module = { module: class {}, imports: [forRoot], providers: [handlersOf(queue, account)] };
  const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
  const client = app.get(DlxClient);
  const lot = `${queue}.parked`;
  return {
    app,
    client,
    account,
    parked: async () => (await client.unwrap<Backend>().status(lot))?.messages ?? 0,
    redrive: async () => {
      account.isMended = true;
      return (await app.get(Redrives).start({ from: lot, perSecond: 1_000, circuit: false }).ended).redriven;
    },
  };
}

function handlersOf(queue: string, account: Account): Type {
  @Injectable()
  class Handlers {
    @Consume({ queue, routingKey: `${queue}.created` })
    @QueueArguments({ 'x-queue-type': 'quorum' })
    @Retry({ attempts: 3, backoff: { type: 'fixed', delay: '1s' }, timeout: '30s' })
    @Prefetch(50)
    created(@Payload() { number }: { number: number }, @Ctx() { attempt }: DlxContext): void {
      if (!account.isMended && fails(number, attempt)) throw new Error('not yet');
      account.handled.set(number, (account.handled.get(number) ?? 0) + 1);
    }
  }
  return Handlers;
}

/** Publishes numbered messages at a rate until it is stopped. */
export function publisher({ client, account }: Running, queue: string, rate: number): { stop(): Promise<number> } {
  let [number, outstanding, stopped] = [0, 0, false];
  let idle = (): void => undefined;
  const pause = 20;
  const timer = setInterval(() => {
    for (let left = (rate * pause) / 1_000; left > 0 && outstanding < 500; left -= 1) {
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
