import { Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  Answer,
  Consume,
  DlxBroker,
  DlxBrokerModule,
  DlxClient,
  type EventContract,
  event,
  Exchange,
  getDlxToken,
  Idempotent,
  On,
  Queue,
  request,
  Retry,
  type StandardSchema,
} from 'dlx-broker';
import { DlxTesting } from 'dlx-broker/testing';
import { firstValueFrom } from 'rxjs';
import { expect, it, vi } from 'vitest';
import { schemaBy } from '../harnesses/schemas.js';
import { endsAfterEach } from '../harnesses/ends.js';

const ends = endsAfterEach();

type Validate = Parameters<typeof schemaBy<number>>[0];

/** An application with one handler of a contract, whose schema the test writes. */
async function start(validate: Validate) {
  const schema: StandardSchema<number> = schemaBy<number>(validate);
  const contract: EventContract<number> = event('work', { schema, timeout: '20s' });
  const seen: number[] = [];
  @Injectable()
  class Worker {
    @On(contract)
    @Queue('work')
    @Retry({ attempts: 3, backoff: '1m' })
    @Idempotent({ key: String })
    handle(data: number): void {
      seen.push(data);
    }
  }
  const dlx = await DlxTesting.create({ providers: [Worker] }, { logger: false });
  ends.push(() => dlx.close());
  return { dlx, contract, seen, client: dlx.app.get(DlxClient), counts: () => dlx.app.get(DlxBroker).counts };
}

const valid = (value: unknown) => ({ value: value as number });
const hanging = new Promise<never>(() => undefined);

it('a schema that answers later holds up the publish and the handler, and nothing else', async () => {
  const { dlx, contract, seen, client } = await start(async (value) => valid(value));
  await firstValueFrom(client.emit(contract, 1));
  await dlx.settled();
  expect(seen).toEqual([1]);
});

it('a schema that hangs fails the publish after its time', async () => {
  const { dlx, contract, seen, client } = await start(() => hanging);
  const emitted = firstValueFrom(client.emit(contract, 1)).catch((error: unknown) => error);
  await dlx.advance('20s');
  expect(await emitted).toMatchObject({
    message: "the schema for the payload of 'work' did not answer within 20000 ms",
  });
  expect(seen).toEqual([]);
});

it('a schema that hangs is a failed attempt, and the message is tried again', async () => {
  let calls = 0;
  const { dlx, seen, counts } = await start((value) => (++calls === 1 ? hanging : valid(value)));
  await dlx.publish('work', 1);
  await dlx.advance('20s', { except: ['work'] });
  expect(counts()).toMatchObject({ retried: 1, parked: 0 });
  await dlx.advance('1m');
  expect(seen).toEqual([1]);
});

it('a schema that throws is a failed attempt, until the attempts are used up', async () => {
  const { dlx, seen, counts } = await start(() => {
    throw new TypeError('broken');
  });
  await dlx.publish('work', 1);
  await dlx.advance('2m');
  expect(counts()).toMatchObject({ retried: 2, parked: 1 });
  expect(dlx.deadLetters('work.parked')[0]?.error?.message).toBe(
    "the schema for the payload of 'work' failed: TypeError: broken",
  );
  expect(seen).toEqual([]);
});

it('a message that breaks its contract gives its key back: what is redriven later is no duplicate', async () => {
  let isStrict = true;
  const { dlx, seen, counts } = await start((value) => (isStrict ? { issues: [{ message: 'is odd' }] } : valid(value)));
  await dlx.publish('work', 1);
  await dlx.settled();
  expect(counts()).toMatchObject({ retried: 0, parked: 1 });
  isStrict = false;
  await dlx.publish('work', 1);
  await dlx.settled();
  expect(seen).toEqual([1]);
  expect(counts()).toMatchObject({ duplicates: 0 });
});

it('the client is closed while a schema thinks: nothing is published', async () => {
  const { dlx, contract, seen, client } = await start(async (value) => valid(value));
  const emitted = firstValueFrom(client.emit(contract, 1));
  client.close();
  await expect(emitted).rejects.toThrow('the client is closed');
  await dlx.settled();
  expect(seen).toEqual([]);
});

it('a contract has the exchange and the broker of its handler', async () => {
  const price = request<string, number>('price');
  const sold = event<string>('sold');
  const seen: string[] = [];
  @Injectable()
  class Shop {
    @Answer(price)
    @Exchange('shop')
    price(item: string): number {
      return item.length;
    }

    @On(sold)
    @Consume({ queue: 'sold', exchange: 'shop', broker: 'audit' })
    sold(item: string): void {
      seen.push(item);
    }
  }
  const module = class {};
  const imports = [DlxBrokerModule.forRoot(), DlxBrokerModule.forRoot({ name: 'audit' })];
  const app = await NestFactory.createApplicationContext({ module, imports, providers: [Shop] }, { logger: false });
  ends.push(() => app.close());
  const client = app.get(DlxClient).to({ exchange: 'shop' });
  expect(await firstValueFrom(client.send(price, 'tea'))).toBe(3);
  const audit = app.get<DlxClient>(getDlxToken(DlxClient, 'audit')).to({ exchange: 'shop' });
  await firstValueFrom(audit.emit(sold, 'tea'));
  await vi.waitFor(() => expect(seen).toEqual(['tea']));
});
