import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import {
  Consume,
  DeadLetters,
  DlxBrokerModule,
  DlxClient,
  DlxContext,
  Park,
  Prefetch,
  Redrives,
  Retry,
} from 'dlx-broker';
import { lastValueFrom, toArray } from 'rxjs';
import type { Mails } from '../shop.js';

interface Mail {
  readonly to: string;
}

/** No server: the broker is part of the application. */
export async function start(): Promise<Mails> {
  const log: string[] = [];
  let isFixed = false;

  @Injectable()
  class Worker {
    @Consume({ queue: 'mails', routingKey: 'mail' })
    @Prefetch(5)
    @Retry({ attempts: 3, backoff: { type: 'exponential', delay: '10ms' } })
    send(@Payload('to') to: string, @Ctx() { attempt }: DlxContext): void {
      log.push(`to ${to}, attempt ${attempt}`);
      if (to === 'wrong') throw new Park('no such address');
      if (to === 'away' && !isFixed) throw new Error('no answer');
      if (to === 'busy' && attempt < 3) throw new Error('the server is busy');
    }
  }

  @Module({ imports: [DlxBrokerModule.forRoot({ logFailures: 'none' })], providers: [Worker] })
  class AppModule {}

  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const client = app.get(DlxClient);
  return {
    log,
    send: (to, delay = 0) =>
      lastValueFrom(client.emit('mail', { to }, delay === 0 ? {} : { delay }), { defaultValue: undefined }),
    failed: async () => {
      const letters = app.get(DeadLetters).replay<Mail>('mails.parked').pipe(toArray());
      return (await lastValueFrom(letters)).map(({ payload }) => (payload as Mail).to);
    },
    again: () => {
      isFixed = true;
      const where = ({ payload }: { payload: unknown }): boolean => (payload as Mail).to === 'away';
      return app.get(Redrives).start({ from: 'mails.parked', where }).ended;
    },
    close: () => app.close(),
  };
}
