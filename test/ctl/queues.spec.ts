import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import amqplib from 'amqplib';
import { Command } from 'commander';
import { afterAll, describe, expect, it } from 'vitest';
import { addQueues } from '../../libs/dlx-broker/src/cli/queues.js';
import { serve } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { until } from '../amqp/harness.js';

const served = await serve({ amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0 } });
const connection = await amqplib.connect(`amqp://127.0.0.1:${served.amqp.port}`);
afterAll(async () => {
  await connection.close();
  await served.close();
});

async function runAt(url: string, ...words: string[]) {
  const out: string[] = [];
  const errors: string[] = [];
  let code = -1;
  const program = new Command().exitOverride();
  const output = {
    env: { DLX_BROKER_URL: url },
    out: (text: string) => void out.push(text),
    error: (text: string) => void errors.push(text),
  };
  addQueues(program, output, (ended) => (code = ended));
  await program.parseAsync(words, { from: 'user' });
  return { code, out: out.join('\n'), errors: errors.join('\n') };
}

const run = (...words: string[]) => runAt(`http://127.0.0.1:${served.http?.port}`, ...words);

describe('dlx-broker queues', () => {
  it('names the command that lists queues', async () => {
    let errors = '';
    const program = new Command().exitOverride().configureOutput({ writeErr: (text) => void (errors += text) });
    addQueues(program, { env: {}, out: () => undefined, error: () => undefined }, () => undefined);
    await expect(program.parseAsync(['list'], { from: 'user' })).rejects.toThrow("unknown command 'list'");
    expect(errors).toContain("'dlx-broker ctl list_queues' lists queues");
  });

  it('rule X1: pause stops the deliveries to an AMQP client, and resume lets them go on', async () => {
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue('orders');
    const got: string[] = [];
    const consume = () =>
      channel.consume('orders', (message) => void got.push(String(message?.content)), { noAck: true });
    await consume();
    const paused = await run('pause', 'orders', '--reason', 'the bank is down');
    expect(paused).toEqual({
      code: 0,
      out: "queue 'orders' in vhost '/' is paused until 'dlx-broker queues resume'",
      errors: '',
    });
    channel.sendToQueue('orders', Buffer.from('a'));
    channel.sendToQueue('orders', Buffer.from('b'));
    await channel.waitForConfirms();
    await consume(); // its consume-ok comes after anything that was delivered before
    expect(got).toEqual([]);
    expect(String(((await channel.get('orders', { noAck: true })) as amqplib.GetMessage).content)).toBe('a');
    const { out } = await run('pause', 'orders', '--for', '1h', '--json');
    expect(JSON.parse(out)).toMatchObject({
      state: 'paused',
      paused: { by: 'guest', reason: '', until: expect.any(Number) },
    });
    expect(await run('resume', 'orders')).toMatchObject({
      code: 0,
      out: "queue 'orders' in vhost '/' delivers to its consumers",
    });
    await until(() => got.length === 1);
    expect(got).toEqual(['b']);
    await channel.close();
  });

  it('rule X3: a pause with a time ends by itself', async () => {
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue('short');
    const got: string[] = [];
    await channel.consume('short', (message) => void got.push(String(message?.content)), { noAck: true });
    expect((await run('pause', 'short', '--for', '50ms')).out).toBe("queue 'short' in vhost '/' is paused for 50ms");
    channel.sendToQueue('short', Buffer.from('a'));
    await until(() => got.length === 1);
    await channel.close();
  });

  it('says what is wrong', async () => {
    expect(await run('pause', 'none')).toEqual({
      code: 65,
      out: '',
      errors: "Error: there is no queue 'none' in vhost '/'",
    });
    const channel = await connection.createChannel();
    await channel.assertQueue('orders');
    await channel.close();
    const meant = "Error: there is no queue 'ordes' in vhost '/'; did you mean 'orders'?";
    expect(await run('pause', 'ordes')).toEqual({ code: 65, out: '', errors: meant });
    expect(await run('resume', 'ordes')).toEqual({ code: 65, out: '', errors: meant });
    expect(await run('pause', 'orders', '--for', 'soon')).toMatchObject({
      code: 64,
      errors: "Error: --for should be a duration such as 90s, 15m, 2h or 7d: 'soon'",
    });
    expect(await run('resume', 'orders', '--password', 'wrong')).toMatchObject({ code: 69 });
  });

  it('says so where the server is a RabbitMQ, or an application on one', async () => {
    let answer = { status: 405, body: '' };
    const server = createServer((_, response) => void response.writeHead(answer.status).end(answer.body));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await runAt(url, 'pause', 'orders')).toMatchObject({
      code: 69,
      errors: expect.stringMatching(/is no dlx-broker: it answers 405; .* cannot pause a queue$/),
    });
    answer = { status: 501, body: JSON.stringify({ error: 'not_possible', reason: 'RabbitMQ cannot pause a queue' }) };
    expect(await runAt(url, 'pause', 'orders')).toEqual({
      code: 69,
      out: '',
      errors: 'Error: RabbitMQ cannot pause a queue',
    });
    server.close();
  });
});
