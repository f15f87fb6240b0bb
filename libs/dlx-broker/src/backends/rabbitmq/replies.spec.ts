import { expect, it } from 'vitest';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import type { Done, Publication } from '../backend.js';
import type { AmqpConnection } from '../../amqp/client/api.js';
import { RabbitMqReplies } from './replies.js';

/** A reply channel whose server gives out an address when the test says so. */
function arrange(publish: (publication: Publication, done: Done) => void) {
  const faults: unknown[] = [];
  const lost: string[] = [];
  let learn = (): void => undefined;
  const channel = {
    isOpen: true,
    consume: (_queue: string, _options: unknown, _events: unknown, answer: (failure?: Error) => void) => answer(),
    declareQueue: (_name: string, _options: unknown, answer: (failure: undefined, declared: object) => void) =>
      answer(undefined, { queue: 'amq.gen' }),
    publish: () => undefined,
    get: (_queue: string, _options: unknown, answer: (failure: undefined, got: object) => void) => {
      learn = () => answer(undefined, { properties: { replyTo: 'address' } });
    },
    deleteQueue: () => undefined,
    close: () => undefined,
  };
  const host = {
    clock: new ManualClock(),
    publish,
    timeout: 1_000,
    fault: (error: unknown) => void faults.push(error),
  };
  const replies = new RabbitMqReplies(
    { ...host, left: () => undefined },
    () => undefined,
    ({ message }) => void lost.push(message),
  );
  replies.begin({ openChannel: () => channel } as unknown as AmqpConnection);
  return { replies, host, faults, lost, learn: () => learn() };
}

const request: Publication = { exchange: 'e', routingKey: 'k', properties: {}, body: Buffer.from('a') };

it('every waiting request fails when the channel ends, also if the callback of one throws', () => {
  const { replies, host, faults, lost } = arrange(() => undefined);
  const failed: string[] = [];
  const mine = new Error('mine');
  for (const name of ['a', 'b', 'c']) {
    replies.request(request, (failure) => {
      failed.push(`${name}: ${failure?.name}`);
      if (name !== 'c') throw mine;
    });
  }
  host.clock.advance(1_000);
  expect(failed).toEqual(['a: ConnectionLostError', 'b: ConnectionLostError', 'c: ConnectionLostError']);
  expect([faults, lost]).toEqual([[mine, mine], ['not connected: no request was sent within 1000 ms']]);
});

it('a request that is given up before the address is known is not sent', () => {
  const sent: unknown[] = [];
  const { replies, learn } = arrange(({ properties }) => void sent.push(properties.correlationId));
  const failed: unknown[] = [];
  for (const correlationId of ['a', 'b'])
    replies.request({ ...request, properties: { correlationId } }, (failure) => failed.push(failure?.message));
  replies.giveUp('a');
  learn();
  expect([sent, failed]).toEqual([['b'], ['the request was given up before it was sent']]);
});

it('every waiting request is sent when the address is known, also if the publish of one throws', () => {
  const sent: string[] = [];
  const full = new Error('full');
  const { replies, faults, learn } = arrange(({ properties }) => {
    sent.push(`${properties.messageId} to ${properties.replyTo}`);
    throw full;
  });
  for (const messageId of ['a', 'b']) replies.request({ ...request, properties: { messageId } });
  learn();
  expect([sent, faults]).toEqual([
    ['a to address', 'b to address'],
    [full, full],
  ]);
});
