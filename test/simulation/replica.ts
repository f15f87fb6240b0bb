import type { Consumption, Publication } from '../../libs/dlx-broker/src/backends/index.js';
import { RabbitMqBackend } from '../../libs/dlx-broker/src/backends/rabbitmq/backend.js';
import { openConnection } from '../../libs/dlx-broker/src/amqp/client/connection.js';
import { openPublisher } from '../../libs/dlx-broker/src/amqp/client/publisher.js';
import { resolveRabbitMq } from '../../libs/dlx-broker/src/backends/rabbitmq/open.js';
import { DelayedPublisher, type RetryPlan, WaitQueues } from '../../libs/dlx-broker/src/nest/retry/index.js';
import type { Topology } from '../../libs/dlx-broker/src/backends/topology/index.js';
import type { Random } from '../fuzz/random.js';
import type { Bug } from './bugs.js';
import { Handlers } from './handlers.js';
import { Life } from './life.js';
import type { Network } from './network.js';
import type { Oracle } from './oracle.js';
import type { ReplicaPlan, Task } from './plan.js';
import { queues } from './topology.js';
import { watched } from './watched.js';
import type { World } from './world.js';

/** What a replica gets from the run. */
export interface ReplicaHost {
  readonly world: World;
  readonly network: Network;
  readonly oracle: Oracle;
  readonly topology: Topology;
  readonly retry: RetryPlan;
  readonly bug: Bug;
}

/** Milliseconds until a replica that could not start is started again. */
const restartAfter = 1_000;

/** One process of the application: handlers and publishers on a backend of its own. It can be stopped, killed and started again. */
export class Replica {
  life: Life;
  backend: RabbitMqBackend | undefined;
  handlers: Handlers | undefined;
  /** Its topology is declared, so the application publishes. */
  isDeclared = false;
  /** All consumers have started. */
  isReady = false;
  #delayed: DelayedPublisher | undefined;
  #consumptions: Consumption[] = [];
  /** Publishes without an outcome. */
  readonly #pending = new Set<string>();
  readonly #random: Random;

  constructor(
    private readonly host: ReplicaHost,
    private readonly plan: ReplicaPlan,
    readonly name: string,
    number: number,
  ) {
    this.life = new Life(host.world);
    this.#random = host.world.random(100 + number);
  }

  get isRunning(): boolean {
    return this.backend !== undefined;
  }

  /** Starts a new process. When that fails, it is started again after a while. */
  start(): void {
    const { world } = this.host;
    const life = (this.life = new Life(world));
    world.note(`${this.name} starts`);
    const backend = this.#open(life);
    this.backend = backend;
    const waitQueues = new WaitQueues(backend, this.host.retry.waitQueueType);
    this.#delayed = new DelayedPublisher(backend, this.host.retry.waitQueueType);
    this.handlers = new Handlers(this.host, life, waitQueues, this.#random, this.plan);
    void this.#begin(life, backend, waitQueues).catch((error: unknown) => {
      if (life.isOver) return;
      world.note(`${this.name} cannot start: ${(error as Error).message}`);
      void this.stop(restartAfter);
    });
  }

  publish(task: Task): void {
    const { oracle } = this.host;
    oracle.publishing(task);
    this.#pending.add(task.id);
    const done = (failure?: Error): void => {
      this.#pending.delete(task.id);
      oracle.published(task, failure);
    };
    const publication = publicationOf(task, () => oracle.dropped(task));
    if (task.kind === 'delayed') this.#delayed!.publish(publication, task.delay, done);
    else this.backend!.publish(publication, done);
  }

  /** Ends the process now. @param vanishes no end of its connections is sent @param pause milliseconds until it is started again */
  kill(vanishes: boolean, pause: number): void {
    this.host.world.note(`${this.name} killed`);
    this.host.oracle.lost(this.#pending);
    this.#pending.clear();
    this.life.end();
    this.host.network.clientDied(this.life, vanishes);
    this.#gone();
    this.#startLater(pause);
  }

  /** Ends the process in order. @param pause milliseconds until it is started again; undefined: it is not */
  async stop(pause: number | undefined): Promise<void> {
    const { world } = this.host;
    const { life, backend, handlers } = this;
    if (backend === undefined) return;
    world.note(`${this.name} stops`);
    const consumptions = this.#consumptions;
    this.#gone();
    for (const consumption of consumptions) consumption.cancel();
    await handlers!.rest();
    for (const consumption of consumptions) consumption.close();
    await backend.close();
    await new Promise<void>((resolve) => life.later(resolve)); // callbacks of the application that follow promises
    if (life.isOver) return;
    if (this.#pending.size > 0) world.violated(`${this.name} closed, and ${[...this.#pending].join()} have no outcome`);
    if (life.reasonsToStay > 0) world.violated(`${this.name} closed, and its process does not end`);
    world.note(`${this.name} stopped`);
    // Timers that are left fire within a minute; they may not ask for others then.
    life.after(60_000, () => {
      if (life.timers > 0) world.violated(`${this.name} closed, and ${life.timers} of its timers are left`);
    });
    if (pause !== undefined) this.#startLater(pause);
  }

  async #begin(life: Life, backend: RabbitMqBackend, waitQueues: WaitQueues): Promise<void> {
    const { topology, retry } = this.host;
    await backend.connect();
    await backend.declare(topology);
    waitQueues.declared(retry.delays, [retry.parkingLot]);
    if (life.isOver || this.backend !== backend) return;
    this.isDeclared = true;
    for (const queue of [queues.orders, queues.done, queues.small]) this.#consume(backend, queue);
    await Promise.all(this.#consumptions.map(({ started }) => started));
    this.isReady = this.backend === backend;
  }

  #consume(backend: RabbitMqBackend, queue: string): void {
    const { prefetch } = this.plan;
    const handlers = this.handlers!;
    const onCancel = (reason: string, failure?: Error): void => {
      if (reason !== 'closed')
        this.host.world.violated(`${this.name}: consumer of ${queue} ended: ${reason} ${failure?.message}`);
    };
    this.#consumptions.push(
      backend.consume(queue, { prefetch, onCancel }, (delivery) => handlers.take(delivery, prefetch)),
    );
  }

  #open(life: Life): RabbitMqBackend {
    const { world, network, oracle, bug } = this.host;
    const { heartbeat, publishTimeout, refusedFor, connectTimeout, longestPause, unconfirmed } = this.plan;
    const options = resolveRabbitMq({
      urls: 'amqp://guest:guest@10.0.0.1:5672',
      connectionName: this.name,
      startAttempts: 4,
      heartbeat,
      publishTimeout,
      refusedFor,
      connectTimeout,
      longestPause,
      unconfirmed,
    });
    const open = watched(openPublisher, oracle);
    return new RabbitMqBackend(options, {
      clock: life,
      later: life.later,
      keepAlive: life.keepAlive,
      random: () => this.#random.next(),
      dial: ({ timeout }) => network.dial(life, timeout ?? connectTimeout),
      openConnection: bug.openConnection?.(openConnection) ?? openConnection,
      openPublisher: bug.openPublisher?.(open) ?? open,
      warn: (text, event) => {
        world.note(`${this.name} warns: ${text}`);
        if (event === 'republishedInDoubt') oracle.isDisturbed = true;
      },
      fault: (error) => world.violated(`${this.name}: fault ${(error as Error).stack ?? String(error)}`),
    });
  }

  #startLater(pause: number): void {
    const tick = (): void => this.start();
    this.host.world.clock.wakeAt(this.host.world.clock.now() + pause, tick);
  }

  #gone(): void {
    this.backend = this.handlers = this.#delayed = undefined;
    this.#consumptions = [];
    this.isDeclared = this.isReady = false;
  }
}

function publicationOf({ id, kind, size }: Task, dropped: () => void): Publication {
  const properties = { deliveryMode: 2, messageId: id };
  const body = Buffer.alloc(size, id);
  const message = { properties, body, mandatory: kind !== 'dropped' };
  switch (kind) {
    case 'queue':
      return { ...message, exchange: '', routingKey: queues.orders };
    case 'small':
      return { ...message, exchange: '', routingKey: queues.small };
    case 'unroutable':
      return { ...message, exchange: 'events', routingKey: 'nowhere' };
    case 'dropped':
      return { ...message, exchange: 'events', routingKey: 'nowhere', dropped };
    case 'missing':
      return { ...message, exchange: 'missing', routingKey: 'order' };
    default:
      return { ...message, exchange: 'events', routingKey: 'order' };
  }
}
