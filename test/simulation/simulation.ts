import type { Random } from '../fuzz/random.js';
import type { Bug } from './bugs.js';
import { apply } from './faults.js';
import { Network } from './network.js';
import { Oracle, type Seen } from './oracle.js';
import { type Plan, planOf, type Task } from './plan.js';
import { Replica } from './replica.js';
import { SimulatedServer } from './server.js';
import { applicationOf, queues } from './topology.js';
import { seenIn } from './watched.js';
import { type Violation, World } from './world.js';

/** What came of a run. */
export interface Result {
  readonly seed: number;
  readonly violation: Violation | undefined;
  /** Two runs with the same hash did the same, byte by byte. */
  readonly hash: string;
  readonly trace: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

export interface SimulationOptions {
  readonly bug?: Bug;
  /** Keeps the last lines of the trace. */
  readonly keepsTrace?: boolean;
  /** Changes the plan that the seed gives. */
  readonly change?: (plan: Plan) => Plan;
  /** Called when the replicas begin to start. */
  readonly begun?: (simulation: Simulation) => void;
}

/** The longest time in which everything has to come to rest after the last fault, in milliseconds. */
const patience = 900_000;

/** One run: a server, replicas and their connections, and all that happens to them. */
export class Simulation {
  readonly world: World;
  readonly oracle: Oracle;
  readonly server: SimulatedServer;
  readonly network: Network;
  readonly replicas: readonly Replica[];
  readonly random: Random;
  readonly plan: Plan;

  constructor(
    seed: number,
    private readonly options: SimulationOptions,
  ) {
    const { bug = {}, change = (plan) => plan, keepsTrace = false } = options;
    this.world = new World(seed, keepsTrace);
    this.plan = change(planOf(this.world));
    this.random = this.world.random(4);
    this.oracle = new Oracle(this.world, this.plan.tasks);
    this.server = new SimulatedServer(this.world, {
      ...this.plan.server,
      ...(bug.journal && { journal: bug.journal }),
    });
    this.network = new Network(this.world, this.server, this.plan.conditions);
    const { world, network, oracle } = this;
    const host = { world, network, oracle, bug, ...applicationOf(this.plan) };
    this.replicas = this.plan.replicas.map((plan, index) => new Replica(host, plan, `replica${index}`, index));
  }

  async run(): Promise<Result> {
    const { world, server, plan } = this;
    this.options.begun?.(this);
    try {
      void server.start();
      for (const replica of this.replicas) this.#at(this.random.integer(0, 300), () => replica.start());
      for (const task of plan.tasks) this.#at(task.at, () => this.#publish(task));
      for (const fault of plan.faults) this.#at(fault.at, () => apply(this, fault));
      await world.until(plan.length);
      await this.#rest();
      if (world.violation === undefined) this.oracle.atTheEnd(this.#contents());
      if (world.violation === undefined) await this.#close();
    } catch (error) {
      world.violated(`the simulation failed: ${(error as Error).stack ?? String(error)}`);
    }
    const { trace, violation, seed } = world;
    const { deliveries, duplicates } = this.oracle;
    const counts = { frames: trace.count, messages: plan.tasks.length, deliveries, duplicates, kills: server.kills };
    return { seed, violation, hash: trace.hash, trace: trace.lines, counts };
  }

  #at(time: number, act: () => void): void {
    const tick = (): void => act();
    this.world.clock.wakeAt(this.world.clock.now() + time, tick);
  }

  /** A replica that has not started does not publish: another one does, or none. */
  #publish(task: Task): void {
    const chosen = this.replicas[task.replica] as Replica;
    const replica = chosen.isDeclared ? chosen : this.replicas.find(({ isDeclared }) => isDeclared);
    replica?.publish(task);
  }

  /** No further faults: waits until nothing is left to do. */
  async #rest(): Promise<void> {
    const { world } = this;
    this.server.duringWork(undefined);
    const end = world.time + patience;
    let reason: string | undefined = '';
    while (world.violation === undefined && world.time < end && reason !== undefined) {
      await world.until(world.time + 500);
      reason = this.#unrest();
    }
    if (reason !== undefined) world.violated(`it does not come to rest: ${reason}`);
  }

  /** Why it is not at rest; undefined when it is. */
  #unrest(): string | undefined {
    const { server, replicas } = this;
    if (!server.isUp) return 'the server is down';
    for (const { name, isReady, handlers, backend } of replicas) {
      if (!isReady || handlers === undefined) return `${name} is not ready`;
      if (backend?.state.kind !== 'ready') return `${name} is ${backend?.state.kind}`;
      if (handlers.busy > 0) return `${name} has ${handlers.busy} unsettled deliveries`;
    }
    for (const { task, outcome, publishedAt } of this.oracle.accounts.values()) {
      if (outcome === 'pending' && publishedAt !== undefined) return `the publish of ${task.id} has no outcome`;
    }
    return this.#unrestOfBroker();
  }

  #unrestOfBroker(): string | undefined {
    const { vhost } = this.server;
    for (const [name, queue] of vhost.queues) {
      if (queue.unacked > 0) return `queue ${name} has ${queue.unacked} unacknowledged messages`;
      const isEnd = name === queues.dead || name === queues.parked;
      if (!isEnd && queue.length > 0) return `queue ${name} has ${queue.length} messages`;
      const consumers = isEnd || name.includes('wait.') ? 0 : this.replicas.length;
      if (queue.consumers.count !== consumers)
        return `queue ${name} has ${queue.consumers.count} consumers of ${consumers}`;
    }
    for (const [name, { delayed }] of vhost.exchanges)
      if ((delayed?.count ?? 0) > 0) return `${name} has delayed messages`;
    if (vhost.dead.length > 0) return `${vhost.dead.length} dead letters are not routed`;
    if (vhost.connections.size !== this.replicas.length) return `the server has ${vhost.connections.size} connections`;
    // One channel for publishing, and one for each consumer.
    for (const { channels } of vhost.connections)
      if (channels.size !== 4) return `a connection has ${channels.size} channels`;
    return undefined;
  }

  #contents(): readonly Seen[] {
    const contents: Seen[] = [];
    for (const name of [queues.dead, queues.parked]) {
      const entries = this.server.vhost.queues.get(name)?.browse({ limit: 10_000 }).entries ?? [];
      for (const { message } of entries) contents.push(seenIn(message, name));
    }
    return contents;
  }

  /** Stops everything in order: nothing may be left. */
  async #close(): Promise<void> {
    const { world, server, replicas, network } = this;
    const ends = { replicas: 0, server: false };
    for (const replica of replicas) void replica.stop(undefined).then(() => ends.replicas++);
    await world.until(world.time + 70_000);
    if (ends.replicas < replicas.length) world.violated('a replica does not stop');
    if (network.openAtServer > 0) world.violated(`${network.openAtServer} sockets are open at the server`);
    void server.stop().then(() => (ends.server = true));
    await world.until(world.time + 70_000);
    if (!ends.server) world.violated('the server does not stop');
    for (const { life, name } of [...replicas, { life: server.life, name: 'the server' }]) {
      if (life.timers > 0) world.violated(`${life.timers} timers of ${name} are left`);
    }
  }
}

/** Runs one seed. Without a trace, errors are made without a stack, which takes a tenth of the time. */
export async function simulate(seed: number, options: SimulationOptions = {}): Promise<Result> {
  const { stackTraceLimit } = Error;
  if (options.keepsTrace !== true) Error.stackTraceLimit = 0;
  try {
    return await new Simulation(seed, options).run();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
