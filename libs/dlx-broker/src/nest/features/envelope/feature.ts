import type { BackendDelivery } from '../../../backends/index.js';
import type { Feature } from '../../core/feature.js';
import type { Opened, PlannedHandler } from '../../core/handler.js';
import { payloadOf } from '../../core/payload-of.js';
import { agreed } from '../../core/plan.js';
import { handlersFor } from '../../core/selection.js';
import type { EventLog } from '../../log/event-log.js';
import type { Envelope } from '../../decorators/envelope.js';
import { type Packet, packetOf } from './packet.js';
import { PacketContext } from './packet-context.js';
import { mayBePacket, PacketSuspicion } from './suspicion.js';

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
        refused(delivery, origins) {
          if (mayBePacket(delivery.message)) suspicion.lookAtRefused(delivery, origins);
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
