import { NestFactory } from '@nestjs/core';
import { DeadLetters, DlxBrokerModule, DlxClient, sharedBroker } from 'dlx-broker';
import { lastValueFrom, toArray } from 'rxjs';
import { expect, it } from 'vitest';
import { Goods } from '../src/goods.js';
import { Money } from '../src/money.js';
import { setPolicies, topology } from '../src/topology.js';
import { Traffic } from '../src/traffic.js';
import { broker, clock } from '../src/world.js';

it('looks back on a day with what the README says', { timeout: 60_000 }, async () => {
  const options = { broker: sharedBroker(broker), topology, logFailures: 'none' as const };
  const root = { module: class {}, imports: [DlxBrokerModule.forRoot(options)], providers: [Money, Goods] };
  const app = await NestFactory.createApplicationContext(root, { logger: ['warn', 'error'], abortOnError: false });
  setPolicies(broker);
  const shares: number[] = [];
  await new Traffic(app.get(DlxClient)).simulateDay((share) => void shares.push(share));
  expect(shares).toHaveLength(10);
  expect(Date.now() - clock.now()).toBeLessThan(5_000);

  const { queues } = broker.virtualHost('/');
  const lots = [...queues.values()].filter(({ name }) => /\.(dead|parked)$/.test(name));
  const reasons = new Set<string>();
  const errors = new Set<string>();
  let letters = 0;
  for (const lot of lots) {
    expect(lot.length, lot.name).toBeGreaterThan(0);
    for (const { deaths, headers } of await lastValueFrom(app.get(DeadLetters).replay(lot.name).pipe(toArray()))) {
      letters++;
      if (deaths[0] !== undefined) reasons.add(deaths[0].reason);
      if (headers['dlx-error-class'] !== undefined) errors.add(String(headers['dlx-error-class']));
    }
  }
  expect(letters).toBeGreaterThan(3_000);
  expect([...reasons].sort()).toEqual(['delivery_limit', 'expired', 'maxlen', 'rejected']);
  expect([...errors].sort()).toEqual([
    'AddressNotFound',
    'BankTimeout',
    'CardDeclined',
    'TemplateError',
    'UnknownFormat',
    'ValidationError',
    'WebhookFailed',
  ]);
  const work = [...queues.keys()].filter((name) => !/\.(dead|parked|wait)$|^wait\./.test(name));
  expect(work).toHaveLength(12);
  expect(queues.get('stock-updates')?.length).toBe(500);
  await app.close();
});
