import type { Application } from './application.js';

/** The first handler and its test, which `init` puts into an application. */
export const handler = [
  "import { Injectable } from '@nestjs/common';",
  "import { Payload } from '@nestjs/microservices';",
  "import { Consume, Retry } from 'dlx-broker';",
  '',
  'export interface Order {',
  '  readonly id: number;',
  '  readonly item: string;',
  '}',
  '',
  '@Injectable()',
  'export class OrdersHandler {',
  '  /** An order that fails is handled again after 1, 2, 4 and 8 seconds. Then it is parked in the queue orders.parked. */',
  "  @Consume({ queue: 'orders', routingKey: 'order.created' })",
  "  @Retry({ attempts: 5, backoff: { type: 'exponential', delay: '1s' } })",
  '  create(@Payload() order: Order): void {',
  "    if (order.item === '') throw new Error(`order ${order.id} has no item`);",
  '  }',
  '}',
  '',
].join('\n');

/** jest has its functions as globals; vitest has them so only on request. */
export const test = ({ runner, extension }: Pick<Application, 'runner' | 'extension'>): string => `\
import { DlxTesting } from 'dlx-broker/testing';
${runner === 'vitest' ? `import { afterEach, beforeEach, describe, it } from 'vitest';\n` : ''}\
import { OrdersHandler } from './orders.handler${extension}';

describe('OrdersHandler', () => {
  let dlx: DlxTesting;

  beforeEach(async () => {
    dlx = await DlxTesting.create(
      { providers: [OrdersHandler] },
      { logger: false },
    );
  });

  afterEach(() => dlx.close());

  it('handles an order', async () => {
    await dlx.publish('orders', { id: 1, item: 'tea' });
    await dlx.settled();
    dlx.expectQueue('orders').toBeEmpty();
    dlx.expectQueue('orders.parked').toBeEmpty();
  });

  it('parks an order that fails five times, after 15 seconds of virtual time', async () => {
    await dlx.publish('orders', { id: 2, item: '' });
    await dlx.advance('15s');
    dlx.expectQueue('orders.parked').toHold([{ id: 2, item: '' }]);
  });
});
`;
