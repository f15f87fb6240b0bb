import { exchangeId, missingId, queueId } from '../../../console/src/drawing/graph';
import type { Placed, PlacedEdge, PlacedNode } from '../../../console/src/drawing/layout';
import type { Place, WorldEvent } from '../world/event';
import { consumerId } from './graph';

/** A dot that moves along a line of the drawing. */
export interface Flight {
  readonly key: string;
  readonly path: string;
  /** The reason of death, or what else happens: its colour. */
  readonly look: string;
  /** Milliseconds of real time. */
  readonly delay: number;
  readonly duration: number;
}

/** What moves after some events, and when each message may be seen where it arrives. */
export interface Flights {
  readonly flights: readonly Flight[];
  /** Milliseconds of real time, by {@link arrivalKey}. */
  readonly arrivals: ReadonlyMap<string, number>;
}

export const arrivalKey = (node: string, copy: number): string => `${node}/${copy}`;

/** More dots than these at once say nothing. */
const most = 40;

const pace = { first: 650, further: 350, between: 70 } as const;

/** Which consumer has a message, and why one died: events name neither later on. */
const holders = new Map<number, string>();

/** The dots for some events, each message one way after the other. */
export function flightsOf(events: readonly WorldEvent[], placed: Placed): Flights {
  const flights: Flight[] = [];
  const arrivals = new Map<string, number>();
  const reasons = new Map<number, string>();
  const nodes = new Map(placed.nodes.map((node) => [node.id, node]));
  const started = new Map<number, number>();

  const fly = (number: number, ways: readonly string[], look: string, delay: number, to?: string): void => {
    const found = ways.filter((way) => way !== '');
    if (found.length === 0 || flights.length >= most) return;
    const duration = pace.first + pace.further * (found.length - 1);
    // The lines are one: the dot goes on through the node between two of them.
    const path = found.map((way, index) => (index === 0 ? way : way.replace('M', 'L'))).join('');
    flights.push({ key: `${number}`, path, look, delay, duration });
    if (to !== undefined) arrivals.set(to, delay + duration);
  };
  const ofPublish = (id: number): number => started.get(id) ?? 0;
  const ofPlace = ({ copy, queue }: Place): number => arrivals.get(arrivalKey(queueId(queue), copy)) ?? 0;
  const node = (id: string): PlacedNode | undefined => nodes.get(id);
  const exchange = (name: string): PlacedNode | undefined => node(exchangeId(name)) ?? node(missingId(name));
  /** From where a dead letter leaves its consumer or queue to the exchange or the queue behind it. */
  const deadWay = ({ copy, queue }: Place, name: string, to: PlacedNode | undefined): readonly string[] => {
    const [from, holder] = [node(queueId(queue)), node(consumerId(holders.get(copy) ?? ''))];
    const back = reasons.get(copy) === 'rejected' ? line(holder, from) : '';
    const over = exchange(name);
    return [back, way(placed, from, over ?? to), over === undefined || over === to ? '' : way(placed, over, to)];
  };

  for (const event of events) {
    switch (event.kind) {
      case 'published':
        started.set(event.id, started.size * pace.between);
        break;
      case 'enqueued': {
        const to = node(queueId(event.queue));
        const key = arrivalKey(queueId(event.queue), event.copy);
        const { from } = event;
        if (from !== undefined) {
          const ways = deadWay(from, event.exchange, to);
          fly(event.number, ways, reasons.get(from.copy) ?? 'rejected', ofPlace(from), key);
        } else {
          const over = exchange(event.exchange);
          const ways = [leadIn(over ?? to), over === undefined ? '' : way(placed, over, to)];
          fly(event.number, ways, 'alive', ofPublish(event.id), key);
        }
        break;
      }
      case 'delivered': {
        const [from, to] = [node(queueId(event.queue)), node(consumerId(event.consumer))];
        holders.set(event.copy, event.consumer);
        fly(event.number, [way(placed, from, to)], 'alive', ofPlace(event), arrivalKey(to?.id ?? '', event.copy));
        break;
      }
      case 'acked':
        fly(event.number, [fall(node(consumerId(event.consumer)))], 'acked', ofPlace(event));
        break;
      case 'returned': {
        const to = node(queueId(event.queue));
        const holder = node(consumerId(holders.get(event.copy) ?? ''));
        fly(event.number, [line(holder, to)], 'alive', 0, arrivalKey(to?.id ?? '', event.copy));
        break;
      }
      case 'died':
        reasons.set(event.copy, event.reason);
        break;
      case 'dropped': {
        const { from, exchange: name = '', queue = from?.queue ?? '' } = event;
        const to = node(queueId(queue));
        const over = exchange(name);
        if (from === undefined) {
          const ways = [leadIn(over ?? to), event.queue === undefined ? '' : way(placed, over, to)];
          fly(
            event.number,
            [...ways, fall(event.queue === undefined ? (over ?? to) : to)],
            'lost',
            ofPublish(event.id),
          );
        } else {
          const end = event.queue === undefined ? over : to;
          const ways = event.why === 'no-dlx' ? [] : deadWay(from, name, end);
          fly(event.number, [...ways, fall(end ?? node(queueId(from.queue)))], 'lost', ofPlace(from));
        }
        break;
      }
    }
  }
  return { flights, arrivals };
}

/** The lines from one node to another, as bindings and dead-letter edges lead; a straight one where none does. */
function way(placed: Placed, from: PlacedNode | undefined, to: PlacedNode | undefined): string {
  if (from === undefined || to === undefined) return '';
  const before = new Map<string, PlacedEdge>();
  const pending = [from.id];
  const seen = new Set(from.kind === 'queue' && from.id !== to.id ? pending : []);
  for (const id of pending) {
    for (const edge of placed.edges) {
      // A queue is left by its own edges only.
      if (edge.from !== id || seen.has(edge.to) || (id !== from.id && id.startsWith('q:'))) continue;
      seen.add(edge.to);
      before.set(edge.to, edge);
      pending.push(edge.to);
    }
    if (before.has(to.id)) break;
  }
  const lines: string[] = [];
  for (let edge = before.get(to.id); edge !== undefined; edge = before.get(edge.from)) {
    lines.unshift(edge.path);
    if (edge.from === from.id) return lines.map((each, at) => (at === 0 ? each : each.replace('M', 'L'))).join('');
  }
  return line(from, to);
}

/** From the left into a node, as a publisher does. */
const leadIn = (to: PlacedNode | undefined): string =>
  to === undefined ? '' : `M${to.x - to.width / 2 - 44},${to.y}L${to.x - to.width / 2},${to.y}`;

const line = (from: PlacedNode | undefined, to: PlacedNode | undefined): string =>
  from === undefined || to === undefined ? '' : `M${from.x},${from.y}L${to.x},${to.y}`;

/** Down and away. */
const fall = (from: PlacedNode | undefined): string =>
  from === undefined ? '' : `M${from.x},${from.y}L${from.x},${from.y + from.height / 2 + 26}`;
