import type { BackendDelivery } from '../../backend/index.js';
import { DlxContext } from '../context.js';
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

  override getMetadata(): Readonly<Record<string, string>> | undefined {
    const { metadata } = this.#packet;
    if (typeof metadata !== 'object' || metadata === null) return super.getMetadata();
    const texts = Object.entries(metadata).filter(([, value]) => typeof value === 'string');
    return Object.assign(Object.create(null) as Record<string, string>, Object.fromEntries(texts));
  }
}
