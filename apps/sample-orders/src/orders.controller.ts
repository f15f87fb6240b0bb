import { BadRequestException, Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { DlxBroker, DlxClient } from 'dlx-broker';
import { firstValueFrom } from 'rxjs';
import { DeadOrders, type DeadOrder } from './dead-orders.js';
import { kinds, routingKeyOf, type Kind, type Order } from './order.js';
import { Warehouse } from './warehouse.js';

/** The HTTP API of the shop. */
@Controller()
export class OrdersController {
  #orders = 0;

  constructor(
    private readonly client: DlxClient,
    private readonly broker: DlxBroker,
    private readonly warehouse: Warehouse,
    private readonly deadOrders: DeadOrders,
  ) {}

  /** Publishes an order, and answers when the broker has it. */
  @Post('orders')
  @HttpCode(202)
  async place(@Body() body: unknown): Promise<Order & { readonly routingKey: string }> {
    const { kind, item, quantity } = read(body);
    const routingKey = routingKeyOf(kind);
    const order: Order = { id: ++this.#orders, item, quantity };
    await firstValueFrom(this.client.emit(routingKey, order), { defaultValue: undefined });
    return { ...order, routingKey };
  }

  @Get('orders/shipped')
  shipped(): readonly Order[] {
    return this.warehouse.shipped;
  }

  @Get('dead-letters')
  dead(): readonly DeadOrder[] {
    return this.deadOrders.all;
  }

  /** The number of messages in each queue. */
  @Get('queues')
  async queues(): Promise<Readonly<Record<string, number>>> {
    const names = this.broker.topology().queues.map(({ name }) => name);
    const status = async (name: string) => [name, (await this.broker.backend.status(name))?.messages ?? 0] as const;
    return Object.fromEntries(await Promise.all(names.map(status)));
  }
}

function read(body: unknown): { kind: Kind; item: string; quantity: number } {
  const { kind = 'standard', item, quantity = 1 } = (body ?? {}) as Readonly<Record<string, unknown>>;
  if (!kinds.includes(kind as Kind)) throw new BadRequestException(`kind is one of ${kinds.join(', ')}`);
  if (typeof item !== 'string' || item === '') throw new BadRequestException('item is a text');
  if (!Number.isSafeInteger(quantity) || (quantity as number) < 1)
    throw new BadRequestException('quantity is 1 or more');
  return { kind: kind as Kind, item, quantity: quantity as number };
}
