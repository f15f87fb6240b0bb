import type { INestApplicationContext } from '@nestjs/common';
import { DlxClient } from 'dlx-broker';
import { firstValueFrom, lastValueFrom, take } from 'rxjs';
import type { Payment } from './bank.js';
import { Operator } from './operator.js';
import { Payments } from './payments.js';
import { Timeline } from './timeline.js';

export const payments: readonly Payment[] = [
  { id: 'pay-1', amount: 30, currency: 'EUR' },
  { id: 'pay-2', amount: 20, currency: 'USD' },
  { id: 'pay-3', amount: 10, currency: 'JPY' },
];

/** One payment goes through, one needs three attempts, one is parked until the bank is fixed, and one waits for the bank. */
export async function runStory(app: INestApplicationContext, pause: () => Promise<unknown>): Promise<void> {
  app.get(Timeline).begin();
  const { receipts } = app.get(Payments);
  const allPaid = lastValueFrom(receipts.pipe(take(payments.length)));
  const parked = firstValueFrom(app.get(Operator).parked);
  for (const payment of payments) app.get(DlxClient).emit('payment.requested', payment);
  const { currency } = await parked;
  await pause();
  app.get(Operator).fix(currency);
  await allPaid;
  const last = firstValueFrom(receipts);
  app.get(DlxClient).emit('payment.requested', { id: 'pay-4', amount: 40, currency: 'EUR' });
  await pause(); // so long is the circuit open
  await last;
}

/** Three payments that the bank never accepts stay in the parking lot: from now on the operator is the reader, at the console. */
export async function parkMore(app: INestApplicationContext): Promise<void> {
  const [operator, client] = [app.get(Operator), app.get(DlxClient)];
  const parked = lastValueFrom(operator.parked.pipe(take(3)));
  for (const id of ['pay-5', 'pay-6', 'pay-7']) client.emit('payment.requested', { id, amount: 50, currency: 'CHF' });
  await parked;
  operator.leave();
}
