import { NestFactory } from '@nestjs/core';
import { Consume, DlxBroker, DlxBrokerModule, embedded } from 'dlx-broker';
import { expect, it } from 'vitest';
import { classOf } from '../harnesses/class-of.js';

it('handlers of an application are paused on its port for HTTP', async () => {
  const Payments = classOf('Payments', { pay: [Consume('payments')] });
  const broker = embedded({ listen: { http: { port: 0 } } });
  const module = { module: class {}, imports: [DlxBrokerModule.forRoot({ broker })], providers: [Payments] };
  const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
  const dlx = app.get(DlxBroker);
  const call = async (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`http://127.0.0.1:${dlx.http!.port}/api/dlx/${path}`, {
      method,
      headers: { authorization: `Basic ${btoa('guest:guest')}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  expect((await call('PUT', 'handlers/Payments.pay/pause', { reason: 'the bank moves' })).status).toBe(204);
  expect(dlx.handlers).toMatchObject([{ handler: 'Payments.pay', state: 'paused', reason: 'the bank moves' }]);
  const { items } = (await (await call('GET', 'handlers')).json()) as { items: unknown };
  expect(items).toMatchObject([
    { handler: 'Payments.pay', vhost: '/', queue: 'payments', state: 'paused', reason: 'the bank moves' },
  ]);
  expect((await call('DELETE', 'handlers/Payments.pay/pause')).status).toBe(204);
  expect(dlx.handlers).toMatchObject([{ state: 'running' }]);
  await app.close();
});
