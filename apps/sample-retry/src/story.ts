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

/** Payments in a currency that the bank never accepts. */
const strange: readonly Payment[] = ['pay-4', 'pay-5', 'pay-6'].map((id) => ({ id, amount: 50, currency: 'CHF' }));

/** Three payments: one goes through, one needs three attempts, one is parked until the bank is fixed. */
export async function tell(app: INestApplicationContext, pause: () => Promise<unknown>): Promise<void> {
  app.get(Timeline).begin();
  const allPaid = lastValueFrom(app.get(Payments).paid.pipe(take(payments.length)));
  const parked = firstValueFrom(app.get(Operator).parked);
  for (const payment of payments) app.get(DlxClient).emit('payment.requested', payment);
  const { currency } = await parked;
  await pause();
  app.get(Operator).fix(currency);
  await allPaid;
}

/** Three payments that stay in the parking lot: from now on the operator is the reader, at the console. */
export async function leaveWork(app: INestApplicationContext): Promise<void> {
  const operator = app.get(Operator);
  const parked = lastValueFrom(operator.parked.pipe(take(strange.length)));
  for (const payment of strange) app.get(DlxClient).emit('payment.requested', payment);
  await parked;
  operator.leave();
}
