import { ChannelClosedError, type ClientError, ConnectionClosedError } from '../../../amqp/client/index.js';
import { refusedBy } from './failures.js';
import type { Outgoing } from './outgoing.js';

/** What becomes of the unconfirmed publishes of a channel that has ended. */
export interface Verdict {
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
  const guilty = new Set(guiltyOf(failure, doubtful));
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
function guiltyOf(failure: Refusal, doubtful: readonly Outgoing[]): readonly Outgoing[] {
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
