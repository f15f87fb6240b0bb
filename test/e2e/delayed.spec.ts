import { Injectable } from '@nestjs/common';
import { Ctx } from '@nestjs/microservices';
import { Consume, DlxBroker, DlxClient, type DlxContext, DlxRecordBuilder, Retry } from 'dlx-broker';
import { silentOutbox } from 'dlx-broker/engine';
import { DlxTesting } from 'dlx-broker/testing';
import { afterEach, describe, expect, it } from 'vitest';

const opened: DlxTesting[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((dlx) => dlx.close()));
});

/** An application that notes when which reminder came, in milliseconds since its start. */
async function app(work: (context: DlxContext) => void = () => undefined) {
  const dlx = new DlxTesting({ logger: false });
  opened.push(dlx);
  const log: string[] = [];
  const start = dlx.clock.now();

  @Injectable()
  class Reminders {
    @Consume({ queue: 'reminders', routingKey: 'reminder.*' })
    @Retry({ attempts: 2, backoff: '1s' })
    remind(@Ctx() context: DlxContext): void {
      log.push(`${context.properties.messageId ?? ''} ${dlx.clock.now() - start}`);
      work(context);
    }
  }

  await dlx.start({ providers: [Reminders] });
  const client = dlx.app.get(DlxClient);
  /** Resolves to the text of the failure, if there is one. */
  const outcome = async (emitted: ReturnType<DlxClient['emit']>): Promise<string | undefined> =>
    new Promise((resolve) =>
      emitted.subscribe({ complete: () => resolve(undefined), error: (error: Error) => resolve(error.message) }),
    );
  return { dlx, client, log, outcome };
}

describe('client.emit with a delay', () => {
  it('is heard so much later, to the millisecond', async () => {
    const { dlx, client, log, outcome } = await app();
    expect(await outcome(client.emit('reminder.mail', {}, { delay: '10m', messageId: 'a' }))).toBeUndefined();
    expect(await outcome(client.emit('reminder.mail', {}, { delay: 1_234, messageId: 'b' }))).toBeUndefined();
    expect(await outcome(client.emit('reminder.mail', {}, { delay: 0, messageId: 'c' }))).toBeUndefined();
    await dlx.advance('1h');
    expect(log).toEqual(['c 0', 'b 1234', 'a 600000']);
  });

  it('is warned of when no queue would get it now, and counted when it is due', async () => {
    const lines: string[] = [];
    const note = (text: unknown): void => void lines.push(String(text));
    const dlx = new DlxTesting({ logger: { log: () => undefined, warn: note, error: note } });
    opened.push(dlx);
    await dlx.start({});
    const client = dlx.app.get(DlxClient);
    const about = (key: string): string[] => lines.filter((line) => line.includes(`'${key}'`));
    const unroutable = (): number => dlx.app.get(DlxBroker, { strict: false }).counts.unroutable;
    for (const key of ['order.creatd', 'order.paid']) client.emit(key, 1, { delay: '10s' });
    await dlx.settled();
    const text =
      /^emit of 'order.creatd' with a delay would reach no queue now, and is dropped if that stays so: nothing is bound/;
    expect(about('order.creatd')).toEqual([expect.stringMatching(text)]);
    expect(unroutable()).toBe(0);
    const channel = dlx.broker.connect().openChannel(silentOutbox);
    channel.declareQueue('paid');
    channel.bindQueue('paid', 'dlx.events', 'order.paid');
    await dlx.advance('1m');
    expect([unroutable(), about('order.creatd').length, dlx.queue('paid').ready]).toEqual([1, 1, 1]);
  });

  it('may be said by the record, and what is said beside it holds', async () => {
    const { dlx, client, log } = await app();
    const record = (messageId: string) => new DlxRecordBuilder({}).setDelay('5s').setMessageId(messageId).build();
    client.emit('reminder.mail', record('record'));
    client.emit('reminder.mail', record('other'), { delay: '2s', messageId: 'beside' });
    await dlx.advance('1m');
    expect(log).toEqual(['beside 2000', 'record 5000']);
  });

  it('is taken back by its message id', async () => {
    const { dlx, client, log } = await app();
    client.emit('reminder.mail', {}, { delay: '10m', messageId: 'a' });
    client.emit('reminder.mail', {}, { delay: '10m', messageId: 'b' });
    await dlx.settled();
    expect(await client.cancelDelayed('a')).toBe(1);
    expect(await client.cancelDelayed('a')).toBe(0);
    await dlx.advance('1h');
    expect(log).toEqual(['b 600000']);
    expect(await client.cancelDelayed('b')).toBe(0);
  });

  it('is tried again as any other when its handler fails', async () => {
    const { dlx, client, log } = await app(() => {
      throw new Error('no');
    });
    client.emit('reminder.mail', {}, { delay: '5s', messageId: 'a' });
    await dlx.advance('1m');
    expect(log).toEqual(['a 5000', 'a 6000']);
    expect(dlx.queue('reminders.parked').ready).toBe(1);
  });

  it.each([
    [-1, 'delay of emit: -1 is negative; a duration is 0 or more'],
    ['soon', "delay of emit: 'soon' is not a duration"],
    ['60d', 'the longest delay of a publish'],
  ])('cannot wait for %s', async (delay, text) => {
    const { client, outcome } = await app();
    expect(await outcome(client.emit('reminder.mail', {}, { delay }))).toContain(text);
    expect(() => new DlxRecordBuilder({}).setDelay(delay).build()).toThrow('delay of DlxRecordBuilder');
  });

  it('is nothing for requests', async () => {
    const { client, outcome } = await app();
    const record = new DlxRecordBuilder({}).setDelay('5s').build();
    expect(await outcome(client.send('reminder.mail', record))).toBe(
      'a request waits for its answer and cannot be delayed; use emit',
    );
  });

  it('shows no exchange of its own before a client delays an event', async () => {
    const { dlx, client } = await app();
    const names = (): string[] =>
      [...dlx.broker.virtualHost('/').exchanges.keys()].filter((name) => /delayed/.test(name));
    expect(names()).toEqual([]);
    client.emit('reminder.mail', {}, { delay: 5 });
    await dlx.settled();
    expect(names()).toEqual(['dlx.events.delayed']);
    expect(dlx.app.get(DlxBroker)).toBeDefined();
  });
});
