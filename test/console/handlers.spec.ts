import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import {
  Circuit,
  Consume,
  DlxBroker,
  DlxBrokerModule,
  DlxClient,
  embedded,
  Retry,
  Unavailable,
} from '../../libs/dlx-broker/src/index.js';
import { consoleHarness, type Front, users } from './harness.js';

const hostile = '<img src=x onerror=alert(1)>';

@Injectable()
class Payments {
  readonly paid: string[] = [];

  @Consume({ queue: 'payments', routingKey: 'payment.requested' })
  pay(id: string): void {
    this.paid.push(id);
  }

  @Consume({ queue: 'checks', routingKey: 'check.requested' })
  @Retry({ attempts: 3 })
  @Circuit('bank')
  check(): never {
    throw new Unavailable(`bank answered ${hostile}`, '1h');
  }
}

let app: INestApplicationContext;

/** An application with a broker of its own. */
async function application(): Promise<Front> {
  const all = { configure: '.*', write: '.*', read: '.*' };
  const none = { configure: '^$', write: '^$', read: '^$' };
  const broker = embedded({
    listen: {
      http: { port: 0 },
      users: [
        { name: 'guest', password: 'guest', tags: ['administrator'], permissions: { '/': all } },
        { ...users.viewer, permissions: { '/': { ...none, read: '.*' } } },
        { ...users.clerk, permissions: { '/': none } },
      ],
    },
  });
  const circuits = { bank: { on: [Unavailable], pause: { type: 'fixed', delay: '1h' } } } as const;
  class App {}
  Module({ imports: [DlxBrokerModule.forRoot({ broker, circuits })], providers: [Payments] })(App);
  app = await NestFactory.createApplicationContext(App, { logger: false });
  const { port } = app.get(DlxBroker).http!;
  return { url: `http://127.0.0.1:${port}/`, close: () => app.close() };
}

const queue = (name: string): string => `#/queues/%2F/${name}`;

describe('the handlers of a queue', () => {
  const house = consoleHarness({ front: application });
  const row = () => house.page.getByRole('region', { name: 'Handlers' }).locator('tbody tr');

  it('are paused with a reason, and resumed', async () => {
    await house.open(queue('payments'));
    await expect.poll(() => row().allInnerTexts()).toEqual([expect.stringMatching(/Payments\.pay\s+running/)]);
    await house.page.getByRole('button', { name: 'Pause Payments.pay' }).click();
    const dialog = house.page.getByRole('dialog', { name: 'Pause the handler' });
    await dialog.getByLabel('Reason').fill(hostile);
    await dialog.getByRole('button', { name: 'Pause' }).click();
    await expect.poll(() => row().innerText()).toMatch(/paused[^]*<img src=x onerror=alert\(1\)>/);
    expect(await house.violations()).toEqual([]);
    app.get(DlxClient).emit('payment.requested', 'a');
    await house.page.getByRole('button', { name: 'Resume Payments.pay' }).click();
    await expect.poll(() => row().innerText()).toMatch(/running/);
    await expect.poll(() => app.get(Payments).paid).toEqual(['a']);
  });

  it('say why they get no messages while their circuit is open', async () => {
    app.get(DlxClient).emit('check.requested', 'a');
    await expect.poll(() => app.get(DlxBroker).handler('Payments.check').status.state).toBe('open');
    await house.open(queue('checks'));
    await expect
      .poll(() => row().innerText())
      .toMatch(/circuit open[^]*bank answered <img[^]*circuit bank, tries again at \d{4}-/);
    expect(await house.violations()).toEqual([]);
  });

  it('are shown without the reason and the buttons to a user without the rights', async () => {
    await app.get(DlxBroker).handler('Payments.pay').pause('secret');
    await house.open(queue('payments'), 'clerk');
    await expect.poll(() => row().innerText()).toMatch(/Payments\.pay\s+paused/);
    expect(await row().innerText()).not.toContain('secret');
    expect(await row().getByRole('button').count()).toBe(0);
    await house.open(queue('payments'), 'viewer');
    await expect.poll(() => row().innerText()).toContain('secret');
    expect(await row().getByRole('button').count()).toBe(0);
    app.get(DlxBroker).handler('Payments.pay').resume();
  });

  it('are left out where the port knows none', async () => {
    await house.open(queue('checks.parked'));
    await house.page.getByRole('heading', { name: 'Consumers' }).waitFor();
    expect(await house.page.getByRole('heading', { name: 'Handlers' }).count()).toBe(0);
  });
});
