import { DlxClient } from 'dlx-broker';
import { DlxTesting } from 'dlx-broker/testing';
import { Morgue, Orders } from './orders.js';

it('buries a dead letter', async () => {
  const dlx = await DlxTesting.create({ providers: [Orders, Morgue] }, { logger: false });
  dlx.app.get(DlxClient).emit('order.created', { id: 1 });
  await dlx.settled();
  expect(dlx.app.get(Morgue).letters).toEqual(['order 1, no tea, rejected']);
  await dlx.close();
});

it('parks after four attempts, which is seven minutes later', async () => {
  const dlx = await DlxTesting.create({ providers: [Orders] }, { logger: false });
  await dlx.publish('mails', { id: 1 });
  await dlx.advance('7m');
  dlx.expectQueue('mails.parked').toHold([{ id: 1 }]);
  expect(dlx.deadLetters('mails.parked')[0]?.error?.message).toBe('no answer');
  expect(() => dlx.expectQueue('mails.parked').toBeEmpty()).toThrow('What happened');
  await dlx.close();
});
