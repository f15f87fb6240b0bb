import { createHash } from 'node:crypto';
import type { Backend, BackendDelivery, Done, Publication } from '../../backends/index.js';
import {
  cutTo,
  failingSince,
  fingerprintIn,
  jsonType,
  mostErrorMessage,
  notedErrorOf,
  readHistory,
  recordedAddressOf,
  redrivesOf,
} from '../../platform/history/index.js';
import { type Address, isShortstr, keptText, Message } from '../../engine/message/index.js';
import { isUnsendable } from './shorter-headers.js';

/** What a notice says of a message that was parked: facts, and nothing of its body. Times are milliseconds since 1970. */
export interface DeathNotice {
  readonly kind: 'parked';
  /** The queue in which the message failed. */
  readonly queue: string;
  /** The parking lot. */
  readonly lot: string;
  readonly at: number;
  /** The number of the last attempt. */
  readonly attempt: number;
  /** When it failed for the first time. */
  readonly failingSince?: number;
  readonly redrives: number;
  readonly messageId?: string;
  /** Where it was published at first. */
  readonly exchange: string;
  readonly routingKey: string;
  /** Class and method of the handler. */
  readonly handler?: string;
  /** The last error; absent with `errorHeaders: false`. */
  readonly error?: { readonly name: string; readonly message: string };
  readonly fingerprint?: string;
  readonly bodyBytes: number;
}

/** A message that is to be parked. */
export interface Parking {
  readonly delivery: BackendDelivery;
  readonly successor: Publication;
  readonly queue: string;
  readonly lot: string;
  readonly attempt: number;
  /** Where it was published at first. */
  readonly from: Address;
}

/** How a message is replaced by its successor. */
export type Replacing = Pick<BackendDelivery, 'replaceBy' | 'settled'>;

/**
 * Publishes a notice of each message that is parked. A parked notice gets no notice of its own, which could be parked as well,
 * without end.
 */
export class Notices {
  constructor(
    private readonly backend: Backend,
    /** The exchange of the notices. */
    readonly exchange: string,
    /** Called when a message was parked without its notice. */
    private readonly lost: (failure: Error, queue: string) => void,
  ) {}

  /** The delivery as it is parked with its notice: where the broker is in this process, both in one step with the ack. */
  parking(parking: Parking): Replacing {
    const { delivery, from } = parking;
    // If the broker records origins, the headers of the message do not count: a client could forge them to prevent notices.
    const { exchange } = delivery.recordsOrigins === true ? recordedAddressOf(delivery.message) : from;
    if (exchange === this.exchange) return delivery;
    const notice = this.#notice(parking);
    // Only a broker in this process rejects with headers. It commits all or nothing.
    return this.backend.rejectsWithHeaders ? this.#together(parking, notice) : this.#oneAfterTheOther(parking, notice);
  }

  /** A refused notice must not keep the message from its parking lot: it is parked without the notice then. */
  #together({ delivery, queue }: Parking, notice: Publication): Replacing {
    const replaceBy = (successor: Publication, done?: Done): void =>
      delivery.commit([successor, notice], (failure) => {
        if (failure === undefined || delivery.settled || isUnsendable(failure)) return done?.(failure);
        delivery.replaceBy(successor, (other) => {
          if (other === undefined) this.lost(failure, queue);
          done?.(other);
        });
      });
    return parkedBy(delivery, replaceBy);
  }

  /** The notice is confirmed before the message is parked: if it is refused, nothing was parked yet that would be parked twice. */
  #oneAfterTheOther({ delivery, queue }: Parking, notice: Publication): Replacing {
    let isSent = false;
    const replaceBy = (successor: Publication, done?: Done): void => {
      if (isSent) return delivery.replaceBy(successor, done); // another try with fewer headers
      this.backend.publish(notice, (failure) => {
        isSent = true;
        if (failure !== undefined) this.lost(failure, queue);
        delivery.replaceBy(successor, done);
      });
    };
    return parkedBy(delivery, replaceBy);
  }

  #notice(parking: Parking): Publication {
    const { delivery, queue } = parking;
    const key = `parked.${queue}`;
    const messageId = noticeId(delivery, queue, parking.attempt);
    return {
      exchange: this.exchange,
      routingKey: isShortstr(key) ? key : 'parked',
      properties: { contentType: jsonType, deliveryMode: 2, type: noticeType, messageId },
      body: keptText(JSON.stringify(this.#facts(parking))),
    };
  }

  #facts({ successor, queue, lot, attempt, from }: Parking): DeathNotice {
    const { exchange, routingKey, properties, body } = successor;
    const message = new Message(exchange, routingKey, properties, body);
    const since = failingSince(message);
    const noted = notedErrorOf(message);
    const handler = readHistory(properties.headers).errors[0]?.handler;
    const fingerprint = fingerprintIn(message);
    return {
      kind: 'parked',
      queue,
      lot,
      at: Math.floor(this.backend.clock.now()),
      attempt,
      ...(since !== undefined && { failingSince: since }),
      redrives: redrivesOf(message),
      ...(properties.messageId !== undefined && { messageId: properties.messageId }),
      exchange: from.exchange,
      routingKey: from.routingKey,
      ...(handler !== undefined && { handler }),
      ...(noted !== undefined && { error: { name: noted.name, message: cutTo(noted.message, mostErrorMessage) } }),
      ...(fingerprint !== undefined && { fingerprint }),
      bodyBytes: body.length,
    };
  }
}

/** A delivery that is replaced in another way. */
const parkedBy = (delivery: BackendDelivery, replaceBy: Replacing['replaceBy']): Replacing => ({
  replaceBy,
  get settled() {
    return delivery.settled;
  },
});

/** The property `type` of a notice. */
const noticeType = 'dlx.notice';

/** The id of a notice: the same when the same attempt of a message is parked again after a crash, so that a duplicate is known. */
function noticeId({ message }: BackendDelivery, queue: string, attempt: number): string {
  const { messageId } = message.own;
  const hash = createHash('sha256').update(JSON.stringify([queue, attempt, redrivesOf(message), messageId ?? null]));
  if (messageId === undefined) hash.update(message.body);
  return `notice-${hash.digest('hex').slice(0, 32)}`;
}
