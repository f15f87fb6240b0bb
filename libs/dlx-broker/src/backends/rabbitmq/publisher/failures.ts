import {
  ChannelClosedError,
  type ClientError,
  ConnectionClosedError,
  type ReturnedError,
} from '../../../amqp/client/index.js';
import type { Clock } from '../../../engine/broker/index.js';
import { after, stackless } from '../../../platform/index.js';
import type { Publication } from '../../backend.js';
import {
  ConnectionLostError,
  OverloadedError,
  RefusedError,
  ServerError,
  UnconfirmedError,
  UnroutableError,
} from '../../errors.js';
import type { Outgoing } from './outgoing.js';

const shown = ({ exchange, routingKey }: Publication): string =>
  `a message to exchange '${exchange}' with routing key '${routingKey}'`;

/** The server returned a message, or closed a channel or the connection because of it. */
export function refusedBy(
  failure: ReturnedError | ChannelClosedError | ConnectionClosedError,
  publication: Publication,
): ServerError {
  const text = failure instanceof ConnectionClosedError ? failure.message : failure.text;
  const hint = failure.code === 403 ? '; give the user of rabbitmq() the right to write to it' : '';
  return new ServerError(`the server refused ${shown(publication)}: ${text}${hint}`, failure.code ?? 0, {
    cause: failure,
  });
}

/** The message cannot be written to the wire. */
export const unsendable = (publication: Publication, failure: ClientError): ServerError =>
  new ServerError(`${shown(publication)} cannot be sent: ${failure.message}`, 0, { cause: failure });

/** A queue refused the message (nack) for too long. */
export const refused = ({ exchange, routingKey }: Publication): RefusedError =>
  stackless(() => new RefusedError(exchange, routingKey));

/** A mandatory message reached no queue. */
export const unroutable = ({ exchange, routingKey }: Publication): UnroutableError =>
  stackless(() => new UnroutableError(exchange, routingKey));

/**
 * The time of a publish is over.
 * @param when `within 30000 ms`
 * @param why the reason if the message was never sent
 */
export function late(outgoing: Outgoing, when: string, why: string, isConnected: boolean): Error {
  if (outgoing.nacks > 0) return refused(outgoing.publication);
  const what = `${shown(outgoing.publication)} was not`;
  const text = `${what} sent ${when}: ${why}`;
  if (!outgoing.mayBeTaken && !isConnected)
    return stackless(() => new ConnectionLostError(`not connected: ${text}`, false));
  if (!outgoing.mayBeTaken) return stackless(() => new OverloadedError(text));
  return stackless(() => new UnconfirmedError(`${what} confirmed ${when}; whether a queue has it is unknown`));
}

/** Publishes that fail in one turn of the event loop. For each of them the application may write a line of its log. */
export const failedInTurn = 128;

/** Publishes whose failure is known. The first ones of a turn fail at once, the others in later turns and in their order. */
export class Failing {
  #waiting: Outgoing[] = [];
  #count = 0;
  #isScheduled = false;

  /** @param end reports the failure of a publish, unless it is over */
  constructor(
    private readonly clock: Clock,
    private readonly end: (outgoing: Outgoing, failure: Error) => void,
  ) {}

  add(outgoing: Outgoing, failure: Error): void {
    outgoing.failure = failure;
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      after(this.clock, 0, this.#turn);
    }
    if (this.#count++ < failedInTurn) this.end(outgoing, failure);
    else this.#waiting.push(outgoing);
  }

  readonly #turn = (): void => {
    const due = this.#waiting.splice(0, failedInTurn);
    this.#count = due.length;
    this.#isScheduled = due.length > 0;
    if (this.#isScheduled) after(this.clock, 0, this.#turn);
    for (const outgoing of due) this.end(outgoing, outgoing.failure as Error);
  };
}

/** What becomes of the unconfirmed publishes of a channel that has ended. */
interface Verdict {
  /** Publishes that made the server close the channel or the connection. They fail. */
  readonly guilty: ReadonlyMap<Outgoing, Error>;
  /** One of these is guilty, and it is unknown which. They are sent again one at a time. */
  readonly suspects: readonly Outgoing[];
  /** These are sent again. */
  readonly innocent: readonly Outgoing[];
}

/** The failure of a channel or connection that the server closed because of a command. */
type Refusal = ChannelClosedError | ConnectionClosedError;

const none = { guilty: new Map<Outgoing, Error>(), suspects: [], innocent: [] } as const;

/**
 * @param failure of the channel; undefined when the client closed it
 * @param doubtful the unconfirmed publishes of the channel, in the order of publishing. One that failed at its deadline before is among
 *   them, because it may be the guilty one
 * @param wereSuspects true if these publishes were suspects before. They stay suspects when the network fails
 */
export function verdictOn(
  failure: ClientError | undefined,
  doubtful: readonly Outgoing[],
  wereSuspects: boolean,
): Verdict {
  const open = doubtful.filter(({ isOver }) => !isOver);
  if (!isByPublish(failure)) return wereSuspects ? { ...none, suspects: open } : { ...none, innocent: open };
  const guilty = new Set(causesOf(failure, doubtful));
  if (guilty.size === 0) return { ...none, suspects: open };
  const refusals = open
    .filter((each) => guilty.has(each))
    .map((each) => [each, refusedBy(failure, each.publication)] as const);
  return { guilty: new Map(refusals), suspects: [], innocent: open.filter((each) => !guilty.has(each)) };
}

/** Reply codes with which a server closes a connection for an error of the client. Other codes are faults of server or network. */
const codesOfClientErrors: ReadonlySet<number | undefined> = new Set([501, 502, 503, 504, 505, 506, 530, 540]);

/** True if an unconfirmed publish may have caused the failure, and would cause it again. Code 200: the client closed the channel. */
function isByPublish(failure: ClientError | undefined): failure is Refusal {
  if (failure instanceof ChannelClosedError) return failure.code !== 200;
  return failure instanceof ConnectionClosedError && codesOfClientErrors.has(failure.code);
}

/**
 * The texts of 404 and 403 name the exchange, and every publish to it would fail. The texts of other codes name nothing, so the guilty
 * publish is known only if it was the only unconfirmed one.
 * @returns none if the guilty publishes are unknown
 */
function causesOf(failure: Refusal, doubtful: readonly Outgoing[]): readonly Outgoing[] {
  const isOnly = doubtful.length === 1;
  if (!(failure instanceof ChannelClosedError)) return isOnly ? doubtful : [];
  const { code, text } = failure;
  // A string is at most 255 bytes, so a long name is cut off.
  const namesExchange = (code === 404 || code === 403) && /exchange '.*' in vhost '/s.test(text);
  if (!namesExchange) return isOnly ? doubtful : [];
  const named = doubtful.filter(({ publication: { exchange, routingKey } }) => {
    if (!text.includes(`exchange '${exchange === '' ? 'amq.default' : exchange}'`)) return false;
    return !text.includes("access to topic '") || text.includes(`access to topic '${routingKey}'`);
  });
  // The text may name an exchange that the server was led to. Sent again, the only publish would close each channel.
  return named.length === 0 && isOnly ? doubtful : named;
}
