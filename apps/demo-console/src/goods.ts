import { Injectable } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DeadLetter, DlxClient, DlxContext, DlxRecordBuilder, MaxLengthBytes, Quorum } from 'dlx-broker';
import { AddressNotFound, UnknownFormat, WebhookFailed } from './errors.js';
import { deadLetters } from './topology.js';
import { isDown, work } from './world.js';

/** Rounds in the hand-written loop before a shipment is parked. */
const rounds = 4;

@Injectable()
export class Goods {
  constructor(private readonly client: DlxClient) {}

  /**
   * Third retry loop, written by hand as in RabbitMQ's guides: a rejected message waits in `shipping.wait` and expires back into
   * `shipping`. The handler counts its rounds in `x-death`, and parks by publishing a copy. Only the headers of this copy tell
   * where it came from, so a redrive needs an address.
   */
  @Consume({ queue: 'shipping', routingKey: 'order.packed' })
  @DeadLetter('shipping.retry', 'wait')
  ship(@Payload() shipment: { shipmentId: number; postcode: string }, @Ctx() { deaths, headers }: DlxContext): void {
    if (shipment.postcode !== '00000') return;
    const problem = `no street of that name in postcode 00000 (shipment ${shipment.shipmentId})`;
    const failed = deaths.find(({ queue, reason }) => queue === 'shipping' && reason === 'rejected')?.count ?? 0;
    if (failed < rounds) throw new AddressNotFound(problem);
    const record = new DlxRecordBuilder(shipment)
      .setExchange('')
      .setHeaders({ ...headers, 'x-parked-because': problem });
    this.client.emit('shipping.parked', record.build());
  }

  /** Returns a message while the mail server is down, until the queue's limit of deliveries is reached. */
  @Consume({ queue: 'email', routingKey: 'mail.*' })
  @Quorum({ deliveryLimit: 3 })
  @DeadLetter(deadLetters, 'email')
  async mail(@Payload() { to }: { to: string }, @Ctx() context: DlxContext): Promise<void> {
    await work(30);
    if (isDown('mailer') || to.endsWith('.invalid')) context.requeue();
  }

  @Consume({ queue: 'search-index', routingKey: ['product.*', 'order.placed'] })
  @MaxLengthBytes(8_000_000)
  @DeadLetter(false)
  async index(): Promise<void> {
    await work(15);
  }

  @Consume({ queue: 'webhooks', routingKey: 'webhook.#' })
  @DeadLetter(deadLetters, 'webhooks')
  async call(@Payload() { url, deliveryId }: { url: string; deliveryId: number }): Promise<void> {
    await work(60);
    const { hostname } = new URL(url);
    if (hostname === 'hooks.example' && isDown(hostname))
      throw new WebhookFailed(`POST ${url}: HTTP 503 after ${deliveryId % 5_000} ms`);
    if (hostname === 'gone.example') throw new WebhookFailed(`POST ${url}: HTTP 410`);
  }

  /** Not all of what the old system sends is JSON. */
  @Consume({ queue: 'legacy-import', routingKey: 'legacy.*' })
  @DeadLetter(deadLetters, 'legacy-import')
  import(@Payload() record: unknown, @Ctx() { properties }: DlxContext): void {
    if (typeof record !== 'object' || record instanceof Uint8Array)
      throw new UnknownFormat(`no reader for ${properties.contentEncoding ?? properties.contentType}`);
  }
}
