import { BadRequestException, Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { DlxBroker, DlxClient } from 'dlx-broker';
import { firstValueFrom } from 'rxjs';
import { DeadOrders } from './dead-orders.js';
import type { Order } from './order.js';
import { Warehouse } from './warehouse.js';

/** The HTTP API of the shop. */
@Controller()
export class Shop {
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
  async place(@Body() body: unknown): Promise<Order> {
    const { tea, quantity = 1 } = fields(body);
    if (typeof tea !== 'string' || tea === '') throw new BadRequestException('tea must be a string');
    const order: Order = { id: ++this.#orders, tea, quantity: positive('quantity', quantity) };
    await firstValueFrom(this.client.emit('order.placed', order), { defaultValue: undefined });
    return order;
  }

  /** What the page shows. */
  @Get('shop')
  async state(): Promise<unknown> {
    const { stock, packing, shipped } = this.warehouse;
    const waiting = (await this.broker.backend.status('orders'))?.messages ?? 0;
    return { stock, waiting, packing, shipped, dead: this.deadOrders.all };
  }

  @Post('redrives')
  @HttpCode(200)
  async redrive(@Body() body: unknown): Promise<{ readonly redriven: number }> {
    const { letters } = fields(body);
    if (!Array.isArray(letters)) throw new BadRequestException('letters must be a list of numbers');
    return { redriven: await this.deadOrders.redrive(letters.map((letter) => positive('letter', letter))) };
  }

  @Post('stock')
  @HttpCode(200)
  restock(@Body() body: unknown): { readonly stock: number } {
    this.warehouse.stock += positive('quantity', fields(body)['quantity']);
    return { stock: this.warehouse.stock };
  }
}

/** A page of another site cannot send JSON to the shop, and other bodies are not parsed: see `withoutParsers`. */
function fields(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null) throw new BadRequestException('the body must be JSON');
  return { ...body };
}

function positive(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  throw new BadRequestException(`${name} must be a whole number of 1 or more`);
}
