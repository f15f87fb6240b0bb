import { labelled, type Metric, type Series } from '../family.js';
import type { HandlerNumbers, MeteredHandlers, OrderedNumbers } from '../source.js';

type All = readonly MeteredHandlers[];

const labels = ['broker', 'handler', 'queue'];

const outcomes = ['retried', 'parked', 'redriven'] as const;

/** The states of a connection to a broker. */
const states = ['connecting', 'ready', 'blocked', 'reconnecting', 'closed'];

/** The states of a circuit. */
const circuitStates = ['closed', 'open', 'probing'];

const perHandler = (
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  read: (of: HandlerNumbers) => number,
): Metric<All> =>
  labelled(name, type, labels, help, function* (all): Generator<Series, void, void> {
    for (const { broker, handlers } of all)
      for (const each of handlers) yield { labels: [broker, each.handler, each.queue], value: read(each) };
  });

const perOrdered = (name: string, help: string, read: (of: OrderedNumbers) => number): Metric<All> =>
  labelled(name, 'gauge', labels, help, function* (all): Generator<Series, void, void> {
    for (const { broker, ordered } of all)
      for (const each of ordered) yield { labels: [broker, each.handler, each.queue], value: read(each) };
  });

/** The handlers of an application, on the broker of the process or on a RabbitMQ. */
export const handlerFamilies: readonly Metric<All>[] = [
  perHandler('dlx_handler_attempts_total', 'counter', 'Runs of a handler', ({ attempts }) => attempts),
  perHandler('dlx_handler_retries_total', 'counter', 'Messages that are tried again later', ({ retried }) => retried),
  perHandler('dlx_handler_parked_total', 'counter', 'Messages parked after their last attempt', ({ parked }) => parked),
  perHandler(
    'dlx_handler_rejected_total',
    'counter',
    'Messages that their queue dead-letters',
    ({ rejected }) => rejected,
  ),
  perHandler('dlx_handler_dropped_total', 'counter', 'Messages that a handler dropped', ({ dropped }) => dropped),
  perHandler(
    'dlx_handler_held_total',
    'counter',
    'Messages that come again as the same attempt, because a service was away',
    ({ held }) => held,
  ),
  perHandler('dlx_handlers_in_flight', 'gauge', 'Runs that have not ended', ({ inFlight }) => inFlight),
  perOrdered('dlx_ordered_lanes', '@Ordered: keys with messages in hand', ({ lanes }) => lanes),
  perOrdered('dlx_ordered_held', '@Ordered: messages that wait in hand for another attempt', ({ held }) => held),
  perOrdered('dlx_ordered_in_hand', '@Ordered: messages in hand', ({ inHand }) => inHand),
  perOrdered('dlx_ordered_window', '@Ordered: the most messages in hand', ({ window }) => window),
  labelled(
    'dlx_handler_duration_seconds',
    'histogram',
    [...labels, 'outcome'],
    'How long a run of a handler took',
    function* (all): Generator<Series, void, void> {
      for (const { broker, handlers } of all) {
        for (const { handler, queue, succeeded, failed } of handlers) {
          yield { labels: [broker, handler, queue, 'success'], value: succeeded };
          yield { labels: [broker, handler, queue, 'failure'], value: failed };
        }
      }
    },
  ),
  labelled(
    'dlx_letters_total',
    'counter',
    ['broker', 'outcome'],
    'Dead letters that streams and redrives of the application retried, parked or redrove',
    (all) =>
      all.flatMap(({ broker, letters }) =>
        outcomes.map((outcome) => ({ labels: [broker, outcome], value: letters[outcome] })),
      ),
  ),
  labelled(
    'dlx_circuit_state',
    'gauge',
    ['broker', 'circuit', 'state'],
    '1 for the present state of a circuit',
    function* (all): Generator<Series, void, void> {
      for (const { broker, circuits } of all) {
        for (const { name, state } of circuits) {
          for (const each of circuitStates) yield { labels: [broker, name, each], value: each === state ? 1 : 0 };
        }
      }
    },
  ),
  labelled('dlx_client_unroutable_total', 'counter', ['broker'], 'Events that no queue got', (all) =>
    all.map(({ broker, unroutable }) => ({ labels: [broker], value: unroutable })),
  ),
  labelled(
    'dlx_backend_state',
    'gauge',
    ['broker', 'state'],
    '1 for the present state of the connection to a broker',
    (all) =>
      all.flatMap(({ broker, state }) =>
        states.map((each) => ({ labels: [broker, each], value: each === state ? 1 : 0 })),
      ),
  ),
];
