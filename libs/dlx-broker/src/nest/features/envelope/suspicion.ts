import type { BackendDelivery } from '../../../backends/index.js';
import { shownText } from '../../../platform/index.js';
import { decodePayload } from '../../../platform/history/index.js';
import type { Message } from '../../../engine/message/index.js';
import type { EventLog } from '../../log/event-log.js';
import { looksLikePacket } from './packet.js';

/**
 * True for few messages: those without a content type, and those to the queue itself. Only their bodies are looked at. A `ClientRMQ`
 * names no content type, and publishes to the queue itself unless its option `wildcards` is set.
 */
export const mayBePacket = ({ own, exchange }: Message): boolean => own.contentType === undefined || exchange === '';

/** Warns once if bodies of a queue look like packets of Nest's RabbitMQ transport, and no option says what they are. */
export class PacketSuspicion {
  #isOver = false;

  constructor(private readonly log: EventLog) {}

  /** @param handler class and method of the handler that gets the payload */
  look(payload: unknown, queue: string, handler: string): void {
    if (!this.#isOver && looksLikePacket(payload)) this.#warn(queue, `and ${handler} gets all of it`);
  }

  /** The same for a message that no handler gets. @param handlers the handlers of the queue */
  lookAtRefused({ message, queue }: BackendDelivery, handlers: readonly string[]): void {
    // An undecodable body is an error here, which is no packet.
    if (this.#isOver || !looksLikePacket(decodePayload(message))) return;
    this.#warn(queue, `and its pattern is not read, so ${handlers.join(' and ')} cannot get it`);
  }

  #warn(queue: string, consequence: string): void {
    this.#isOver = true;
    const name = shownText(queue);
    const text =
      `queue '${name}': a body looks like a packet of Nest's RabbitMQ transport, { pattern, data }, ${consequence}. If handlers ` +
      `shall get the data, write @Queue({ name: '${name}', envelope: 'nest' }) or @Consume({ queue: '${name}', envelope: 'nest' }) ` +
      "above one of them, or option envelope: 'nest' of DlxBrokerModule; if it is no packet, write envelope: 'none'";
    this.log.write('packetSuspected', text, { queue: name });
  }
}
