import {
  Broker,
  inRestoreOrder,
  isPersistent,
  type ProfileName,
  type VirtualHost,
} from '../../../../libs/dlx-broker/src/engine/broker/index.js';
import { CountedNames } from '../../../../libs/dlx-broker/src/nest/testing/counted-names.js';
import { ManualClock } from '../../../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { policyPatterns } from '../../../../libs/dlx-broker/src/platform/patterns.js';
import type { Permit } from './command.js';
import type { NewEvent } from './event.js';
import { type Kept, Recorder } from './recorder.js';

/** What a world does at most, so that no topology hangs the page. */
export const limits = {
  messages: 10_000,
  published: 100_000,
  copies: 100_000,
  events: 2_000,
  stepsOfTurn: 2_000,
  turns: 100,
  wakeUps: 20_000,
  ms: 1e12,
};

/** A broker in virtual time. It does a limited number of steps at each moment, and stops for good when they are spent. */
export class Host {
  readonly clock = new ManualClock();
  /** When it began, in milliseconds since 1970. */
  readonly start = this.clock.now();
  recorder: Recorder;
  broker: Broker;
  /** Why nothing happens any more: a limit is reached. Undefined while it goes on. */
  stopped: string | undefined;
  readonly #names = new CountedNames();
  readonly #permits = new Map<string, Permit>();
  #turns: (() => void)[] = [];

  constructor(
    readonly profile: ProfileName,
    readonly report: (event: NewEvent) => void,
  ) {
    this.recorder = this.#makeRecorder();
    this.broker = this.#makeBroker();
  }

  get vhost(): VirtualHost {
    return this.broker.virtualHost('/');
  }

  /** Runs the turns that a command needs. */
  settle(): void {
    for (let turns = 0; this.#turns.length > 0 && this.stopped === undefined; turns++) {
      if (this.recorder.count > limits.messages) return this.stop(`${limits.messages} messages are the most here`);
      if (turns >= limits.turns) return this.stop(`more than ${limits.turns * limits.stepsOfTurn} steps at one moment`);
      this.#turns.shift()?.();
    }
  }

  stop(text: string): void {
    this.stopped = text;
    this.report({ kind: 'stopped', text });
  }

  /** @returns the milliseconds that passed: fewer if too much happens on the way */
  advance(ms: number): number {
    const began = this.clock.now();
    for (let steps = 0; this.stopped === undefined && this.clock.step(began + ms); steps++) {
      this.settle();
      if (steps < limits.wakeUps) continue;
      this.report({ kind: 'stopped', text: `more than ${limits.wakeUps} things happen in this time: it ends early` });
      break;
    }
    return this.clock.now() - began;
  }

  permit(permit: Permit): void {
    const { access } = this.broker;
    access.setUser(permit.user);
    access.setPermissions(permit.user, '/', permit);
    this.#permits.set(permit.user, permit);
  }

  /** Ends all connections; durable things and the messages that RabbitMQ keeps are there again afterwards. */
  restart(): void {
    const [old, before, { kept }] = [this.broker, this.vhost, this.recorder];
    this.recorder = this.#makeRecorder(this.recorder);
    this.broker = this.#makeBroker();
    const after = this.vhost;
    const release = this.broker.hold();
    for (const permit of this.#permits.values()) this.permit(permit);
    for (const policy of before.policies.user.list()) after.setPolicy(policy.name, policy);
    for (const { declared } of before.exchanges.values())
      if (declared.durable && !after.exchanges.has(declared.name)) after.addExchange(declared);
    for (const { declared } of before.queues.values()) if (declared.durable) after.addQueue(declared, this.clock.now());
    for (const source of before.exchanges.values())
      for (const { destination, bindingKey, arguments: table } of source.bindings()) {
        const isQueue = before.queues.get(destination.name) === destination;
        const target = (isQueue ? after.queues : after.exchanges).get(destination.name);
        if (target !== undefined) after.exchanges.get(source.name)?.bind(target, bindingKey, table);
      }
    let lost = 0;
    for (const [name, entries] of kept) lost += entries.size - this.#restore(name, [...entries.values()]);
    old.close();
    release();
    this.report({ kind: 'restarted', lost });
  }

  /** @returns how many messages the queue has again */
  #restore(name: string, all: readonly Kept[]): number {
    const queue = this.vhost.queues.get(name);
    if (queue === undefined) return 0;
    const stays = all.filter(({ entry }) => isPersistent(queue.declared, entry.message));
    const parts = {
      fresh: stays.filter(({ held, entry }) => !held && !entry.redelivered),
      returned: stays.filter(({ held, entry }) => !held && entry.redelivered),
      held: stays.filter(({ held }) => held),
    };
    for (const kept of inRestoreOrder(queue.declared, parts).flat()) {
      const { message, position, deadline, returns, failures, due } = kept.entry;
      const place = { position, deadline, returns, failures, due, delivered: kept.held, death: kept.death };
      this.recorder.restored(kept, queue.restore(message, place, this.clock.now()));
    }
    return stays.length;
  }

  /** Only the recorder of the present broker reports: a broker that ends is silent. */
  #makeRecorder(before?: Recorder): Recorder {
    const recorder: Recorder = new Recorder((event) => void (this.recorder === recorder && this.report(event)), before);
    return recorder;
  }

  #makeBroker(): Broker {
    const broker: Broker = new Broker({
      clock: this.clock,
      names: this.#names,
      patterns: policyPatterns,
      rabbitmq: this.profile,
      journal: this.recorder,
      pace: {
        budget: limits.stepsOfTurn,
        later: (resume) => void (broker === this.broker && this.#turns.push(resume)),
      },
    });
    this.recorder.watch(broker.virtualHost('/'));
    return broker;
  }
}
