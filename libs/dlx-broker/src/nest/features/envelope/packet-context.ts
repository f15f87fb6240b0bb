import type { BackendDelivery } from '../../../backends/index.js';
import { DlxContext } from '../../core/context.js';
import { textsOf } from '../../core/headers.js';
import type { Packet } from './packet.js';

/** The context of a message that is a packet: pattern and metadata are those of the packet. */
export class PacketContext extends DlxContext {
  readonly #packet: Packet;

  constructor(delivery: BackendDelivery, packet: Packet) {
    super(delivery);
    this.#packet = packet;
  }

  override getPattern(): string {
    return this.#packet.pattern;
  }

  override dispatched(): Readonly<Record<string, string>> | undefined {
    const { metadata } = this.#packet;
    return typeof metadata === 'object' && metadata !== null ? textsOf(metadata) : super.dispatched();
  }
}
