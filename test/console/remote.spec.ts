import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { DlxBroker, DlxBrokerModule, getDlxBrokerToken, rabbitmq } from '../../libs/dlx-broker/src/index.js';
import { realServerIsMissing, realVhost } from '../backends/real-vhost.js';
import { managementUrl } from '../rabbitmq.js';
import { consoleHarness, type Front } from './harness.js';
import { Shop } from './letters.js';

/** An application on a server, with a console. */
async function application(urls: string, management: string): Promise<Front> {
  class App {}
  const broker = rabbitmq({ urls, management, listen: { http: { port: 0 } } });
  Module({ imports: [DlxBrokerModule.forRoot({ broker })] })(App);
  const app = await NestFactory.createApplicationContext(App, { logger: false });
  const { port } = app.get<DlxBroker>(getDlxBrokerToken()).http!;
  return { url: `http://127.0.0.1:${port}/`, close: () => app.close() };
}

const missing = await realServerIsMissing();
if (missing !== undefined) console.warn(`SKIPPED: the pages on RabbitMQ: ${missing}`);

describe.skipIf(missing !== undefined)('the pages of an application on RabbitMQ', () => {
  const hostile = '<img src=x onerror=alert(1)>';
  let world: Awaited<ReturnType<typeof realVhost>>;
  const harness = consoleHarness({
    front: async () => {
      world = await realVhost();
      const { management, vhost } = world;
      const declare = (name: string, args: object = {}): Promise<unknown> =>
        management.call('PUT', `/queues/${vhost}/${encodeURIComponent(name)}`, { durable: true, arguments: args });
      await declare('orders', { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': hostile });
      for (const name of [hostile, 'back']) await declare(name);
      const message = { properties: {}, routing_key: hostile, payload: 'x', payload_encoding: 'string' };
      await management.call('POST', `/exchanges/${vhost}/amq.default/publish`, message);
      const path = `/queues/${vhost}/${encodeURIComponent(hostile)}`;
      const ready = async () => ((await management.call('GET', path)) as { messages_ready?: number }).messages_ready;
      await vi.waitFor(async () => expect(await ready()).toBe(1), { timeout: 20_000, interval: 250 });
      return application(world.url, managementUrl);
    },
  });
  afterAll(() => world?.remove());

  it.each(['', 'dead-letters', 'topology', 'policies'])('opens #/%s without violations', async (page) => {
    await harness.open(`#/${page}?vhost=${world.vhost}`);
    await harness.page.getByText(/^RabbitMQ \d/).waitFor();
    expect(await harness.page.locator('.notice-failed').count()).toBe(0);
    expect(await harness.violations()).toEqual([]);
  });

  it('shows a queue with its settings, and says what RabbitMQ does not show', async () => {
    await harness.open(`#/queues/${world.vhost}/orders`);
    await harness.page.getByRole('heading', { name: 'Settings' }).waitFor();
    expect(await harness.page.getByText('dead-letter-routing-key').first().isVisible()).toBe(true);
    await harness.open(`#/dead-letters/${world.vhost}/orders/1`);
    await harness.page.getByRole('heading', { name: 'What RabbitMQ does not show' }).waitFor();
  });

  it('redrives a message to its effect on the server', async () => {
    const { page } = harness;
    await harness.open(`#/dead-letters?vhost=${world.vhost}`);
    await page.getByRole('button', { name: 'Redrive 1 message' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('RabbitMQ records no origin').waitFor();
    await dialog.getByRole('radio', { name: 'a queue' }).check();
    await dialog.getByRole('combobox', { name: 'Queue' }).fill('back');
    await dialog.getByRole('button', { name: 'Redrive 1 message' }).click();
    await dialog.getByText('Completed').waitFor();
    const asked = { count: 2, ackmode: 'ack_requeue_true', encoding: 'auto' };
    expect(await world.management.call('POST', `/queues/${world.vhost}/back/get`, asked)).toHaveLength(1);
  });
});

describe('the pages of an application on dlx-broker serve', () => {
  const harness = consoleHarness({
    front: (served) => {
      const { amqp, http } = served;
      return application(`amqp://guest:guest@127.0.0.1:${amqp!.port}`, `http://127.0.0.1:${http!.port}`);
    },
  });

  it('show messages without taking them, as those of the server', async () => {
    new Shop(harness.served.broker).die({ body: '{"order":1}' }, { body: '{"order":2}' });
    await harness.open('#/dead-letters');
    await harness.page.getByText(/^dlx-broker \d/).waitFor();
    expect(await harness.page.locator('main tbody tr').count()).toBeGreaterThan(0);
    expect(await harness.violations()).toEqual([]);
  });
});
