import type { Broker, User, VirtualHost } from '../../engine/broker/index.js';
import { isOf, visibleVhosts } from '../http/auth.js';
import type { QueueRedrives } from './redrives/redrives.js';
import { Problem } from '../http/reply.js';
import { EventStream } from './event-stream.js';
import { LiveChanges, type LiveFilter } from './live-changes.js';

/** The most streams: in all, and of one user. */
const most = { all: 64, ofUser: 8 };

/** The open event streams. */
export class EventStreams {
  readonly #streams = new Map<EventStream, string>();

  constructor(
    readonly broker: Broker,
    readonly redrives: QueueRedrives,
  ) {}

  get count(): number {
    return this.#streams.size;
  }

  /**
   * @param interval milliseconds between two events
   * @throws Problem 429 when too many streams are open
   */
  open(user: User, interval: number, filter: LiveFilter): EventStream {
    const ofUser = [...this.#streams.values()].filter((name) => name === user.name).length;
    if (this.count >= most.all || ofUser >= most.ofUser) {
      throw new Problem(429, 'too_many_requests', `${ofUser} streams of this user and ${this.count} in all are open`);
    }
    const { broker, redrives } = this;
    const changes = new LiveChanges(filter);
    const vhosts = (): readonly VirtualHost[] => this.#vhostsOf(user);
    let name = 'state';
    const stream = new EventStream({
      clock: broker.clock,
      interval,
      nextEvent: () => {
        const change = changes.since(vhosts(), redrives.list());
        if (change === undefined && name === 'change') return undefined;
        const event = {
          name,
          data: { time: broker.clock.now(), ...(change ?? { queues: [], gone: [], redrives: [] }) },
        };
        name = 'change';
        return event;
      },
      mayListen: () => isOf('management', broker.access.user(user.name) ?? noUser),
      ended: (ended) => void this.#streams.delete(ended),
    });
    this.#streams.set(stream, user.name);
    return stream;
  }

  /** Ends all streams. */
  close(): void {
    for (const stream of this.#streams.keys()) stream.close();
  }

  /** The virtual hosts that the user may see now. */
  #vhostsOf(user: User): readonly VirtualHost[] {
    const now = this.broker.access.user(user.name) ?? noUser;
    return visibleVhosts(this.broker, now).map((name) => this.broker.virtualHosts.get(name) as VirtualHost);
  }
}

/** A user without rights, in the place of a deleted user. */
const noUser: User = { name: '', tags: [], passwordHash: undefined };
