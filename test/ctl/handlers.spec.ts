import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Command } from 'commander';
import { Consume, DlxBroker, DlxBrokerModule, DlxClient, embedded } from 'dlx-broker';
import { afterAll, describe, expect, it } from 'vitest';
import { addHandlers } from '../../libs/dlx-broker/src/cli/handlers.js';
import { serve } from '../../libs/dlx-broker/src/server/serve/serve.js';

@Injectable()
class Payments {
  readonly paid: string[] = [];

  @Consume({ queue: 'payments', routingKey: 'payment.requested' })
  pay(id: string): void {
    this.paid.push(id);
  }
}

@Module({
  imports: [DlxBrokerModule.forRoot({ broker: embedded({ listen: { http: { port: 0 } } }) })],
  providers: [Payments],
})
class App {}

const app = await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false });
afterAll(() => app.close());

async function runAt(port: number | undefined, ...words: string[]) {
  const out: string[] = [];
  const errors: string[] = [];
  let code = -1;
  const program = new Command().exitOverride();
  const output = {
    env: { DLX_BROKER_URL: `http://127.0.0.1:${port}` },
    out: (text: string) => void out.push(text),
    error: (text: string) => void errors.push(text),
  };
  addHandlers(program, output, (ended) => (code = ended));
  await program.parseAsync(words, { from: 'user' });
  return { code, out: out.join('\n'), errors: errors.join('\n') };
}

const run = (...words: string[]) => runAt(app.get(DlxBroker).http?.port, ...words);

describe('dlx-broker handlers', () => {
  it('pause stops the deliveries to a handler, and resume lets them go on', async () => {
    expect((await run('list')).out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['handler', 'queue', 'state', 'circuit', 'since', 'next probe', 'reason'],
      ['Payments.pay', 'payments', 'running'],
    ]);
    expect(await run('pause', 'Payments.pay', '--reason', 'the bank moves')).toEqual({
      code: 0,
      out: "handler 'Payments.pay' is paused until 'dlx-broker handlers resume', or until its process ends",
      errors: '',
    });
    app.get(DlxClient).emit('payment.requested', 'a');
    expect((await run('list')).out).toMatch(/\nPayments\.pay +payments +paused +\d{4}-\d\d-\d\d .* the bank moves$/);
    const { items } = JSON.parse((await run('list', '--json')).out) as { items: object[] };
    expect(items).toMatchObject([{ handler: 'Payments.pay', state: 'paused', reason: 'the bank moves' }]);
    expect(app.get(Payments).paid).toEqual([]);
    expect((await run('resume', 'Payments.pay')).out).toBe("handler 'Payments.pay' is not paused any more");
    await run('pause', 'Payments.pay');
    const resumed = await run('resume', 'Payments.pay', '--json');
    expect(JSON.parse(resumed.out)).toMatchObject({ items: [{ state: 'running', reason: null }] });
    await expect.poll(() => app.get(Payments).paid).toEqual(['a']);
    expect(await run('resume', 'Payments.pay')).toEqual({
      code: 0,
      out: "handler 'Payments.pay' was not paused",
      errors: '',
    });
  });

  it('says what is wrong, and where there are no handlers', async () => {
    expect(await run('pause', 'Payments.nothing')).toEqual({
      code: 65,
      out: '',
      errors: "Error: there is no handler 'Payments.nothing' in the application at this address",
    });
    expect(await run('pause', 'Payments.pai')).toEqual({
      code: 65,
      out: '',
      errors:
        "Error: there is no handler 'Payments.pai' in the application at this address; did you mean 'Payments.pay'?",
    });
    expect(await run('pause', 'Payments.pay', '--reason', 'x'.repeat(501))).toMatchObject({
      code: 64,
      errors: 'Error: --reason has 501 characters; 500 is the most',
    });
    expect(await run('list', '--password', 'wrong')).toMatchObject({ code: 69 });
    const served = await serve({ amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0 } });
    expect(await runAt(served.http?.port, 'list')).toEqual({
      code: 0,
      out: expect.stringMatching(/^no handlers at this address: .* option 'listen\.http' of embedded\(\)/),
      errors: '',
    });
    expect(await runAt(served.http?.port, 'pause', 'Payments.pay')).toMatchObject({
      code: 65,
      errors: expect.stringMatching(/^Error: no handlers at this address: .* option 'listen\.http' of embedded\(\)/),
    });
    await served.close();
  });

  it('says of a RabbitMQ that it has no list of handlers, and which address to name', async () => {
    const server = createServer((request, response) => {
      request.resume();
      const body = { error: 'Object Not Found', reason: 'Not Found' };
      response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      for (const words of [['list'], ['pause', 'Payments.pay']]) {
        expect(await runAt(port, ...words)).toEqual({
          code: 65,
          out: '',
          errors: expect.stringMatching(
            /^Error: there is no list of handlers at this address: .* --url or DLX_BROKER_URL$/,
          ),
        });
      }
    } finally {
      server.close();
    }
  });
});
