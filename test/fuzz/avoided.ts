import type { Field } from '../../libs/dlx-broker/src/engine/message/index.js';
import type { Queue } from '../../libs/dlx-broker/src/engine/broker/index.js';
import type { Event } from './engine-ground.js';
import { unhurried } from './pace.js';
import type { Step } from './program.js';
import type { HeldDelivery, RunningConsumer } from './world.js';

/** What happened inside the engine while one step ran. */
export interface Happening {
  readonly events: readonly Event[];
  readonly queues: ReadonlyMap<string, Queue>;
  readonly consumers: readonly RunningConsumer[];
  /** Consumers of channels that ended. */
  readonly ended: readonly RunningConsumer[];
  readonly step: Step;
  /** The unacknowledged deliveries before the step. */
  readonly held: readonly HeldDelivery[];
  /** Whether a transaction of the step's channel held a nack or a reject before it. */
  readonly holdsRejection: boolean;
  /** The names of all BCC headers so far. */
  readonly copied: ReadonlySet<string>;
  /** Whether a queue went while a transaction held a publish. */
  readonly losesTarget: boolean;
}

/** A step whose result is open, or wrong in the RabbitMQ that is compared: the generator drops it. */
export interface Avoided {
  readonly name: string;
  readonly why: string;
  applies(happening: Happening): boolean;
}

/**
 * Each step that is dropped, with the reason. `difference.ts` makes two other things equal, and the generator never draws some
 * steps: `generator.ts` says which.
 */
export const avoided: readonly Avoided[] = [
  {
    name: 'two sources, one target',
    why: 'queues are processes of their own: what two of them, or one and a client, send to a third at the same time arrives in either order (rule J1)',
    applies: ({ events }) =>
      closePairs(events, 'arrival', 'arrival').some(([one, other]) => sourceOf(one) !== sourceOf(other)),
  },
  {
    name: 'arrival while the own time runs out',
    why: 'the timer of a limited queue and the timer of the queue that sends to it ring at the same time in either order',
    applies: ({ events }) =>
      events.length > 0 &&
      closePairs(events, 'died', 'arrival').some(
        ([death, arrival]) =>
          death.letter?.reason === 'expired' &&
          death.entry !== arrival.entry &&
          isBounded(death.queue) &&
          sourceOf(arrival) !== 'client',
      ),
  },
  {
    name: 'return and arrival',
    why: 'what a channel gives back to a queue and what another queue sends to it at the same time arrives in either order',
    applies: ({ events }) =>
      closePairs(events, 'returned', 'arrival').some(
        ([, arrival]) => sourceOf(arrival) !== `queue ${arrival.queue.name}`,
      ),
  },
  {
    name: 'V1',
    why: '3.10.8 arms no timer for a higher priority that arrives above lower ones',
    applies: ({ events }) =>
      events.some(
        ({ kind, entry, queue }) =>
          kind === 'enqueued' && entry.deadline !== 0 && queue.settings.maxPriority !== undefined,
      ),
  },
  {
    name: 'V2',
    why: '3.10.8 reverses the history at each death, so with three pairs of which some are rejections its cycle check misjudges',
    applies: ({ events }) => events.some((event) => event.letter !== undefined && isMisordered(event)),
  },
  {
    name: 'TTL 0 on a quorum queue',
    why: 'delivered only within the same millisecond (rule D6)',
    applies: ({ events }) =>
      events.some(
        ({ kind, entry, queue, time }) =>
          kind === 'enqueued' && queue.declared.type === 'quorum' && entry.deadline === time,
      ),
  },
  {
    name: 'full quorum queue that refuses',
    why: 'each channel learns by itself, and later, that it refuses (rule V11)',
    applies: ({ queues }) =>
      [...queues.values()].some(
        (queue) => queue.declared.type === 'quorum' && isBounded(queue) && queue.settings.overflow === 'reject-publish',
      ),
  },
  {
    name: 'arrival where a consumer is just going',
    why: 'a queue may hear later that a channel ended than another queue does; what that one sends then is handed out in vain and comes back redelivered, or arrives just before an auto-delete queue goes',
    applies: ({ events, ended, queues }) =>
      events.some((event) => isOf('arrival', event) && ended.some(({ queue }) => queue === event.queue.name)) ||
      (events.some(({ kind }) => kind === 'died') && ended.some(({ queue }) => !queues.has(queue))),
  },
  {
    name: 'delivery limit reached in the hands of a consumer with prefetch',
    why: '3.10.8 then gives room for two: the consumer gets more than its prefetch (a bug)',
    applies: ({ events, consumers }) =>
      events.some(
        ({ kind, entry, queue }) =>
          (kind === 'died' || kind === 'settled') &&
          entry.returns > (queue.settings.deliveryLimit ?? Infinity) &&
          consumers.some(({ queue: name, prefetch, shared }) => name === queue.name && prefetch + shared > 0),
      ),
  },
  {
    name: 'shared limit of consumers of several queues',
    why: 'a limiter that has room again asks its queues in an order drawn by lot',
    applies: ({ consumers }) =>
      consumers.some((one) =>
        consumers.some((other) => other.channel === one.channel && other.queue !== one.queue && one.shared > 0),
      ),
  },
  {
    name: 'several messages at once for a no-ack consumer with a prefetch at a quorum queue with a limit or another consumer',
    why: 'what was handed out counts as unsettled until the channel tells the queue so: a burst may find no room with the consumer, and the limit drops it or the other consumer gets it',
    applies: ({ events, consumers }) =>
      (['arrival', 'returned'] as const)
        .flatMap((kind) => closePairs(events, 'arrival', kind).concat(closePairs(events, 'returned', kind)))
        .some(([{ queue }]) => {
          const here = consumers.filter(({ queue: name }) => name === queue.name);
          const isLimited = here.some(({ prefetch, noAck }) => noAck && prefetch > 0);
          return queue.declared.type === 'quorum' && isLimited && (isBounded(queue) || here.length > 1);
        }),
  },
  {
    name: 'one settlement up to a tag among deliveries of several queues at the same time',
    why: 'which queue delivered first is open, so it is open what the tag covers (rule J1)',
    applies: ({ step, held }) => step.do === 'settle' && step.multiple && isCoverOpen(step, held),
  },
  {
    name: 'arrival while a policy changes',
    why: 'queues hear of a policy one after the other: what one of them drops because of it arrives at another before or after that one has the policy',
    applies: ({ step, events }) =>
      (step.do === 'setPolicy' || step.do === 'clearPolicy') && events.some((event) => isOf('arrival', event)),
  },
  {
    name: 'ack behind a rejection in one transaction',
    why: 'a classic queue looks at the acks that wait for it first, so at the commit the ack may overtake the rejection',
    applies: ({ step, holdsRejection }) => step.do === 'settle' && step.how === 'ack' && holdsRejection,
  },
  {
    name: 'V14',
    why: '4.3.6 leaves out the key of a death that a BCC of the publisher has, too',
    applies: ({ events, copied }) =>
      events.some(
        ({ letter, entry: { message } }) => letter !== undefined && message.hasDied && copied.has(message.routingKey),
      ),
  },
  {
    name: 'V12',
    why: '4.3.6 fails a commit with 506 if a queue of one of its publishes is gone',
    applies: ({ losesTarget }) => losesTarget,
  },
  {
    name: 'W6',
    why: '3.10.8 dead-letters the heads that one message pushes out of a quorum queue in the reverse order',
    applies: ({ events }) =>
      events.some((event, index) => {
        const next = events[index + 1];
        return isQuorumOverflow(event) && next?.queue === event.queue && isQuorumOverflow(next);
      }),
  },
];

/** @returns the name of the reason to drop the step */
export const reasonToAvoid = (happening: Happening): string | undefined =>
  avoided.find(({ applies }) => applies(happening))?.name;

/** A queue takes or refuses a message. */
type Sort = Event['kind'] | 'arrival';

const isOf = (sort: Sort, { kind }: Event): boolean =>
  sort === 'arrival' ? kind === 'enqueued' || kind === 'refused' : kind === sort;

/** Two events of one queue, so close in time that either may be the first. */
function closePairs(events: readonly Event[], one: Sort, other: Sort): [Event, Event][] {
  const pairs: [Event, Event][] = [];
  for (const first of events) {
    if (!isOf(one, first)) continue;
    for (const second of events) {
      if (!isOf(other, second) || second.queue !== first.queue || second === first) continue;
      if (Math.abs(first.time - second.time) < unhurried.unit / 2) pairs.push([first, second]);
    }
  }
  return pairs;
}

/** The source of a message: the queue in which it died, or a client. */
function sourceOf({ entry: { message } }: Event): string {
  if (!message.hasDied) return 'client';
  return `queue ${pairsOf(message.properties.headers?.get('x-death'))[0]?.queue}`;
}

/** Whether a queue delivered something the settlement covers when another delivered something it does not cover. */
function isCoverOpen({ channel, delivery }: Extract<Step, { do: 'settle' }>, all: readonly HeldDelivery[]): boolean {
  const held = all.filter((one) => one.channel === channel);
  const last = held.find(({ of, nth }) => of === delivery.of && nth === delivery.nth);
  if (last === undefined) return false;
  const covered = held.filter(({ tag }) => tag <= last.tag);
  const left = held.filter(({ tag }) => tag > last.tag);
  return covered.some((one) => left.some((other) => one.queue !== other.queue && one.step === other.step));
}

const isQuorumOverflow = ({ letter, queue }: Event): boolean =>
  letter?.reason === 'maxlen' && queue.declared.type === 'quorum';

const isBounded = ({ settings }: Queue): boolean =>
  settings.maxLength !== undefined || settings.maxLengthBytes !== undefined;

/** With two or more older pairs the order matters to the cycle check if rejections and others are mixed. */
function isMisordered({ letter }: Event): boolean {
  if (letter === undefined) return false;
  const earlier = pairsOf(letter.entry.message.properties.headers?.get('x-death'));
  const known = earlier.some(({ queue, reason }) => queue === letter.queue.name && reason === letter.reason);
  const all = known ? earlier : [...earlier, { queue: letter.queue.name, reason: letter.reason }];
  return all.length > 2 && new Set(all.map(({ reason }) => reason === 'rejected')).size > 1;
}

function pairsOf(field: Field | undefined): { queue: unknown; reason: unknown }[] {
  if (field?.type !== 'A') return [];
  return field.value.flatMap((entry) =>
    entry.type === 'F' ? [{ queue: entry.value.get('queue')?.value, reason: entry.value.get('reason')?.value }] : [],
  );
}
