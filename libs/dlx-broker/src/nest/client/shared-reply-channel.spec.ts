import '@nestjs/common';
import { firstValueFrom, lastValueFrom } from 'rxjs';
import { afterEach, expect, it, vi } from 'vitest';
import { EmbeddedBackend } from '../../backends/index.js';
import { harness } from '../testing/harness.js';
import { DlxClient } from './client.js';
import { DlxRecordBuilder } from './record-builder.js';

const backends: EmbeddedBackend[] = [];
afterEach(() => Promise.all(backends.splice(0).map((backend) => backend.close())));

/** A client, and a service that answers each request with its body, or not before `answer` is called. */
async function arrange() {
  const { broker } = harness();
  const backend = new EmbeddedBackend(broker);
  backends.push(backend);
  await backend.connect();
  const opened = vi.spyOn(backend, 'openReplies');
  const channel = broker.connect().openChannel({
    confirmed: () => undefined,
    returned: () => undefined,
    cancelled: () => undefined,
    closed: () => undefined,
    deliver: ({ message }) => {
      const { replyTo = '', correlationId } = message.properties;
      const reply = (): unknown => channel.publish('', replyTo, { correlationId }, message.body);
      if (message.body.toString().includes('late')) late.push(reply);
      else reply();
    },
  });
  const late: (() => unknown)[] = [];
  channel.declareExchange('service', { type: 'fanout' });
  channel.declareQueue('service');
  channel.bindQueue('service', 'service', '');
  channel.consume('service', { noAck: true });
  const client = new DlxClient({ backend, requests: 'service' });
  const targets = Array.from({ length: 50 }, (_, index) => {
    channel.declareExchange(`t${index}`, { type: 'fanout' });
    channel.bindExchange('service', `t${index}`, '');
    return client.to({ exchange: `t${index}` });
  });
  const answer = (): void => void late.splice(0).forEach((reply) => reply());
  return { client, targets, opened, answer };
}

it('all targets of a client have one reply channel, and each gets its own answers', async () => {
  const { client, targets, opened } = await arrange();
  const asked = [client, ...targets].map((one, index) => firstValueFrom(one.send('p', { index })));
  expect(await Promise.all(asked)).toEqual([client, ...targets].map((_, index) => ({ index })));
  expect(opened).toHaveBeenCalledTimes(1);
});

it('a target that is closed fails its own requests only; the last one closes the channel', async () => {
  const { client, targets, opened, answer } = await arrange();
  const [one, two] = targets as [DlxClient, DlxClient];
  const [first, second] = [one, two].map((each) => lastValueFrom(each.send('p', 'late')));
  first!.catch(() => undefined);
  await new Promise(setImmediate);
  one.close();
  await expect(first).rejects.toThrow('the client was closed');
  answer();
  expect(await second).toBe('late');
  two.close();
  await client.connect();
  expect(await firstValueFrom(client.send('p', 1))).toBe(1);
  expect(opened).toHaveBeenCalledTimes(2);
});

it('an id that the application chose is answered, and waits at one target at a time', async () => {
  const { targets, answer } = await arrange();
  const [one, two] = targets as [DlxClient, DlxClient];
  const record = (): unknown => new DlxRecordBuilder('late').setOptions({ correlationId: 'mine' }).build();
  const first = firstValueFrom(one.send('p', record()));
  await new Promise(setImmediate);
  await expect(firstValueFrom(two.send('p', record()))).rejects.toThrow("with the correlation id 'mine' waits already");
  answer();
  expect(await first).toBe('late');
});
