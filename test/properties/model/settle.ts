import { die, giveBack, mark, rank, withRoom } from './queue-rules.js';
import { type Held, leave, type World } from './world.js';

export type How = 'ack' | 'reject' | 'requeue' | 'lost';

/** Deliveries that are settled together; queues deliver before the next ones (rule J6). */
export interface ModelLot {
  readonly channel: number;
  readonly held: readonly Held[];
  readonly how: How;
}

/** Begins to settle: the first group at once, the others when the queues are at rest. */
export function settle(world: World, channel: number, settled: readonly Held[], how: How): void {
  const key = ({ queue, consumer, tag }: Held): string =>
    consumer ?? (how === 'lost' && queue.setup.type === 'quorum' ? String(tag) : '');
  // What `basic.get` fetched goes one by one, whatever its priority.
  const priority = ({ queue, copy, consumer }: Held): number => (consumer === undefined ? 0 : rank(queue, copy));
  const chosen = [...settled].sort(
    (one, other) =>
      compare(one.queue.setup.name, other.queue.setup.name) ||
      compare(key(one), key(other)) ||
      priority(other) - priority(one) ||
      one.tag - other.tag,
  );
  const lots: Held[][] = [];
  let last: Held | undefined;
  for (const each of chosen) {
    const isSame = last?.queue === each.queue && last.consumer === each.consumer && each.consumer !== undefined;
    if (lots.length > 0 && (how === 'lost' || isSame)) lots.at(-1)!.push(each);
    else lots.push([each]);
    last = each;
  }
  world.lots.push(...lots.map((held) => ({ channel, held, how })));
  if (world.lots.length > 0) settleNext(world);
}

export function settleNext(world: World): World {
  const { channel, held, how } = world.lots.shift() as ModelLot;
  for (const each of held) {
    const { queue, copy } = each;
    const wasOpen = withRoom(world, queue).length > 0;
    world.channels[channel]!.held = world.channels[channel]!.held.filter((other) => other !== each);
    // A consumer that was full asks for more; any other change leaves the queue alone until its timer rings.
    if (!wasOpen && withRoom(world, queue).length > 0) mark(world, queue);
    if (queue.deleted) continue; // rule A5
    queue.unacked--;
    if (how === 'ack') leave(world, copy, 'acked');
    else if (how === 'reject') die(world, queue, copy, 'rejected');
    else giveBack(world, queue, copy, how === 'lost');
  }
  return world;
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
