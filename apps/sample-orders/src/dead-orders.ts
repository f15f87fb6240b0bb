import { Injectable } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DlxContext, Retry, type XDeath } from 'dlx-broker';
import type { Order } from './order.js';
import { morgue } from './topology.js';

/** A dead order, with its deaths, the latest first. */
export interface DeadOrder {
  readonly order: Order;
  /** The routing key with which it reached the dead-letter queue. */
  readonly routingKey: string;
  readonly error: string | undefined;
  readonly deaths: readonly XDeath[];
}

/** Takes all dead letters of this shop, prints their `x-death`, and keeps them. */
@Injectable()
export class DeadOrders {
  readonly all: DeadOrder[] = [];

  @Consume({ queue: 'dead-orders', exchange: morgue, routingKey: '#' })
  @Retry({ attempts: 3 })
  bury(@Payload() order: Order, @Ctx() context: DlxContext): void {
    const { deaths, headers } = context;
    const error = headers['dlx-error-message'] as string | undefined;
    this.all.push({ order, routingKey: context.message.routingKey, error, deaths });
    console.log(`order ${order.id} is dead${error === undefined ? '' : ` (${error})`}, its x-death:`);
    console.table(
      deaths.map(({ time, routingKeys, ...death }) => {
        return { ...death, routingKeys: routingKeys.join(', '), time: time.toISOString() };
      }),
    );
  }
}
