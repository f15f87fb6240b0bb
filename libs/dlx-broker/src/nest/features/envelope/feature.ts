import type { BackendDelivery } from '../../../backends/index.js';
import type { Message } from '../../../engine/message/index.js';
import { decodePayload } from '../../../platform/history/index.js';
import { shownText } from '../../../platform/index.js';
import { DlxContext } from '../../core/context.js';
import type { Feature } from '../../core/feature.js';
import { handlersFor, type Opened, type PlannedHandler } from '../../core/handler.js';
import { textsOf } from '../../core/headers.js';
import { payloadOf } from '../../core/payload.js';
import { agreed } from '../../core/plan.js';
import type { Envelope } from '../../decorators/envelope.js';
import type { EventLog } from '../../log/event-log.js';
import { looksLikePacket, type Packet, packetOf } from './packet.js';

/** Reads packets of Nest's RabbitMQ transport, and warns where no option names them. @param ofModule the option `envelope` */
export function envelope(ofModule: Envelope | undefined, log: EventLog): Feature {
  const suspicions = new Map<string, PacketSuspicion>();
  return {
    name: 'envelope',
    reader(queue, handlers) {
      const envelope = agreed(queue, 'envelope', handlers) ?? ofModule;
      if (envelope === 'nest') return { open };
      if (envelope === 'none') return undefined;
      const suspicion = suspicions.get(queue) ?? new PacketSuspicion(log);
      suspicions.set(queue, suspicion);
      return {
        look(payload, { message }, handler) {
          if (mayBePacket(message)) suspicion.look(payload, queue, handler);
        },
        unhandled(delivery, origins) {
          if (mayBePacket(delivery.message)) suspicion.lookAtUnhandled(delivery, origins);
        },
      };
    },
  };
}

/** A body that is no packet is the data. A packet with an id wants an answer. */
function open(delivery: BackendDelivery): Opened | undefined {
  const packet = packetOf(payloadOf(delivery));
  return (
    packet && {
      data: packet.data,
      wantsAnswer: packet.id !== undefined,
      contextOf: (held) => new PacketContext(held, packet),
      select: (handlers) => handlersOfPacket(handlers, packet),
    }
  );
}

/**
 * The handlers of a packet. A request goes to the handler of requests with its pattern, if there is one. The only `@Consume` of a
 * queue gets all packets, because its routing key is that of the exchange.
 */
function handlersOfPacket(handlers: readonly PlannedHandler[], { pattern, id }: Packet): readonly PlannedHandler[] {
  const [first] = handlers;
  if (handlers.length === 1 && first?.handler.kind === 'consume') return handlers;
  const matching = handlersFor(handlers, pattern);
  const asked = id === undefined ? undefined : matching.find(({ handler }) => handler.kind === 'request');
  return asked === undefined ? matching : [asked];
}

/** The context of a message that is a packet: pattern and metadata are those of the packet. */
class PacketContext extends DlxContext {
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

/**
 * True for few messages: those without a content type, and those to the queue itself. Only their bodies are looked at. A `ClientRMQ`
 * names no content type, and publishes to the queue itself unless its option `wildcards` is set.
 */
const mayBePacket = ({ own, exchange }: Message): boolean => own.contentType === undefined || exchange === '';

/** Warns once if bodies of a queue look like packets of Nest's RabbitMQ transport, and no option says what they are. */
class PacketSuspicion {
  #isOver = false;

  constructor(private readonly log: EventLog) {}

  /** @param handler class and method of the handler that gets the payload */
  look(payload: unknown, queue: string, handler: string): void {
    if (!this.#isOver && looksLikePacket(payload)) this.#warn(queue, `and ${handler} gets all of it`);
  }

  /** The same for a message that no handler gets. @param handlers the handlers of the queue */
  lookAtUnhandled({ message, queue }: BackendDelivery, handlers: readonly string[]): void {
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
