import { Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';
import { Consume, DlxBroker, DlxBrokerModule, DlxClient, TopologyError } from 'dlx-broker';
import { NotAvailableError } from 'dlx-broker/engine';
import { DlxTesting } from 'dlx-broker/testing';
import { lastValueFrom } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { here, isEmbedded, isRabbitMq, missing, until } from './places.js';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const paid: number[] = [];

@Injectable()
class Payments {
  @Consume({ queue: 'payments', routingKey: 'payment.due' })
  pay(@Payload() { id }: { id: number }): void {
    paid.push(id);
  }
}

async function start() {
  paid.length = 0;
  const module = { module: class {}, imports: [DlxBrokerModule.forRoot(here())], providers: [Payments] };
  const app = await NestFactory.createApplicationContext(module, { logger: false });
  ends.push(() => app.close());
  const broker = app.get(DlxBroker);
  const emit = (id: number) =>
    lastValueFrom(app.get(DlxClient).emit('payment.due', { id }), { defaultValue: undefined });
  return { broker, queue: broker.queue('payments'), emit };
}

describe.skipIf(missing !== undefined)('DlxBroker.queue(name)', () => {
  it.skipIf(isRabbitMq)('rules X1, X3: pauses a queue, says so, and resumes it', async () => {
    const { queue, emit, broker } = await start();
    expect(await queue.paused()).toBeUndefined();
    await queue.pause('the bank is down', { for: '1h' });
    const pause = await queue.paused();
    expect(pause).toMatchObject({ reason: 'the bank is down', by: isEmbedded ? undefined : 'guest' });
    expect(pause!.until! - pause!.since).toBe(3_600_000);
    await emit(1);
    await until(async () =>
      expect(await broker.backend.status('payments')).toMatchObject({ messages: 1, consumers: 1 }),
    );
    expect(paid).toEqual([]);
    await queue.pause();
    expect(await queue.paused()).toMatchObject({ reason: '', since: pause!.since, until: undefined });
    await queue.resume();
    await until(() => expect(paid).toEqual([1]));
    await queue.resume();
    expect(await queue.paused()).toBeUndefined();
  });

  it.skipIf(isRabbitMq)('fails for a queue that is not there, and for values that are none', async () => {
    const { broker, queue } = await start();
    const none = broker.queue('none');
    for (const failed of [none.pause(), none.resume(), none.paused()]) {
      await expect(failed).rejects.toThrow(TopologyError);
    }
    await expect(queue.pause('why', { for: 'soon' })).rejects.toThrow("pause() of queue 'payments': for");
    await expect(queue.pause('why', { until: 1 } as object)).rejects.toThrow("'until' is no option");
    await expect(queue.pause(7 as never)).rejects.toThrow('the reason is 7; write a string');
    await expect(queue.pause('x'.repeat(501))).rejects.toThrow('at most 500 are kept');
    await expect(queue.pause('why', { for: 0 })).rejects.toThrow('it has to be 1 ms to 365 days');
    expect(await queue.paused()).toBeUndefined();
  });

  it.runIf(isRabbitMq)('says that a RabbitMQ cannot pause a queue, and why', async () => {
    const { queue } = await start();
    const text =
      /^RabbitMQ \S+ cannot pause a queue: it delivers to every consumer.*pause the handlers in each application/;
    for (const failed of [queue.pause(), queue.resume(), queue.paused()]) {
      await expect(failed).rejects.toThrow(NotAvailableError);
      await expect(failed).rejects.toThrow(text);
    }
  });

  it.runIf(isEmbedded)('rule X3: DlxTesting takes what waits in a paused queue for no work', async () => {
    paid.length = 0;
    const dlx = new DlxTesting({ logger: false });
    ends.push(() => dlx.close());
    await dlx.start({ providers: [Payments] });
    await expect(dlx.app.get(DlxBroker).queue('payment').pause()).rejects.toThrow(
      "no queue 'payment' in vhost '/'; did you mean 'payments'?",
    );
    await dlx.app.get(DlxBroker).queue('payments').pause('why', { for: '10m' });
    dlx.app.get(DlxClient).emit('payment.due', { id: 1 });
    await dlx.advance('9m');
    expect([paid, dlx.queue('payments').ready]).toEqual([[], 1]);
    await dlx.advance('1m');
    expect(paid).toEqual([1]);
  });
});
