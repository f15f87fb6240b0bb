import { serverProperties } from '../../libs/dlx-broker/src/amqp/server/listen-options.js';
import { ClientConnections } from '../../libs/dlx-broker/src/amqp/server/listener.js';
import { Broker, type Journal, type VirtualHost } from '../../libs/dlx-broker/src/engine/broker/index.js';
import type { FieldTable } from '../../libs/dlx-broker/src/engine/message/index.js';
import { CountedNames } from '../../libs/dlx-broker/src/nest/testing/counted-names.js';
import { policyPatterns } from '../../libs/dlx-broker/src/platform/index.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { FakeDisk } from '../durability/fake-disk.js';
import type { Random } from '../fuzz/random.js';
import { Life } from './life.js';
import type { ServerSocket } from './server-socket.js';
import type { World } from './world.js';

/** How the server of a run is set up. */
export interface ServerPlan {
  readonly rabbitmq: '3.10' | '4';
  /** Bytes of a segment, and of bodies in memory. */
  readonly segment: number;
  readonly memory: number;
  readonly recordsInTurn: number;
  /** Steps of the broker in one turn. */
  readonly budget: number;
  /** The longest time of one operation of the disk, in milliseconds. */
  readonly slowest: number;
  /** Bytes that may wait for a client before its deliveries stop. */
  readonly unread: number;
  /** Seconds. */
  readonly heartbeat: number;
  /** It announces `basic.replace`. Without it a client acks a delivery after the confirm of its successor, as on RabbitMQ. */
  readonly canReplace: boolean;
  /** Passes the broker's journal, or one that stands in for it. */
  readonly journal?: (journal: DiskJournal) => Journal;
}

/** How a server ends. `killed`: its process; `power cut`: its machine, which forgets what no sync has made durable. */
export type ServerEnd = 'killed' | 'power cut';

/** The listener, the broker and its log in one simulated process that can be killed, and its disk, which outlives it. */
export class SimulatedServer {
  isUp = false;
  /** True: its machine does not answer, so that a client sees no refusal. */
  isGone = false;
  /** The memory is short. */
  isShort = false;
  disk = new FakeDisk();
  /** Called when it died. */
  died: (vanishes: boolean) => void = () => undefined;
  life: Life;
  kills = 0;
  readonly #random: Random;
  readonly #names = new CountedNames();
  #broker: Broker | undefined;
  #journal: DiskJournal | undefined;
  #connections: ClientConnections | undefined;
  #salt = 0;
  #isWorking = false;
  #duringWork: (() => void) | undefined;

  constructor(
    private readonly world: World,
    private readonly plan: ServerPlan,
  ) {
    this.#random = world.random(2);
    this.life = new Life(world);
  }

  /** The virtual host; only while it is up. */
  get vhost(): VirtualHost {
    return this.#broker!.virtualHost('/');
  }

  has(socket: ServerSocket): boolean {
    return [...(this.#connections?.all ?? [])].some((each) => (each.socket as unknown) === socket);
  }

  /** Opens the log, and accepts clients. */
  async start(): Promise<void> {
    const life = (this.life = new Life(this.world));
    const { segment, memory, recordsInTurn, rabbitmq, budget } = this.plan;
    this.#runDisk(this.disk, life);
    const runtime = { now: life.now, later: life.later, after: life.after };
    const log = { ...runtime, salt: () => ++this.#salt };
    const failed = (error: unknown): void => this.world.violated(`the log failed: ${String(error)}`);
    const journal = await DiskJournal.open(
      this.disk,
      {
        segment,
        memory,
        recordsInTurn,
        slack: 0,
        factor: 2,
        diskFree: 0,
        now: life.now,
        afterCrash: this.kills > 0,
        failed,
        damaged: failed,
      },
      log,
    );
    if (life.isOver) return;
    const { places, queues, misplaced } = journal.damage;
    if (places.length + queues.length + misplaced > 0) failed(JSON.stringify(journal.damage));
    const broker = new Broker({
      clock: life,
      names: this.#names,
      patterns: policyPatterns,
      rabbitmq,
      pace: { budget, later: life.later },
      journal: this.plan.journal?.(journal) ?? journal,
    });
    journal.restore(broker);
    if (broker.access.user('guest') === undefined) {
      broker.access.setUser('guest', { passwordHash: '', tags: [] });
      broker.access.setPermissions('guest', '/', { configure: '.*', write: '.*', read: '.*' });
    }
    this.#connections = new ClientConnections(
      broker,
      {
        limits: { unread: this.plan.unread, heartbeat: this.plan.heartbeat },
        authenticate: ({ password }) => password === 'guest',
        memory: () => ({ used: this.isShort ? 2 : 0, limit: 1 }),
        log: (error) => this.world.violated(`fault of the listener: ${textOf(error)}`),
      },
      runtime,
    );
    if (!this.plan.canReplace) Object.assign(this.#connections.context, { properties: withoutReplace(broker) });
    this.#broker = broker;
    this.#journal = journal;
    this.isUp = true;
    this.isGone = false;
    this.world.note('server up');
  }

  accept(socket: ServerSocket): void {
    const connections = this.#connections!;
    this.life.later(() => {
      const login = connections.arrive(socket as never);
      if (login === undefined) socket.destroy();
      else connections.enter(socket as never, { tcp: socket as never, at: this.life.now(), pendingLogin: login });
    });
  }

  /** Calls `act` once, during the next operation of the disk of this process. Replaces an earlier `act` that was not called yet. */
  duringWork(act: (() => void) | undefined): void {
    this.#duringWork = act;
  }

  /** Ends the process now. @param vanishes the connections get no end, and new ones no refusal, until it is back */
  kill(how: ServerEnd, vanishes: boolean): void {
    this.world.note(`server ${how}${vanishes ? ', silent' : ''}`);
    this.kills++;
    this.isUp = false;
    this.isGone = vanishes;
    this.#duringWork = undefined;
    this.life.end();
    this.disk.onStep = () => undefined;
    this.disk = how === 'killed' ? this.disk.copy() : this.disk.afterPowerCut(this.#random);
    this.died(vanishes);
    this.#broker = this.#journal = this.#connections = undefined;
  }

  /** Closes all connections, and the log. */
  async stop(): Promise<void> {
    await this.#connections?.close('the simulation is over');
    this.#broker?.close();
    await this.#journal?.close();
    this.isUp = false;
  }

  /** Ends each operation of the disk after some time. */
  #runDisk(disk: FakeDisk, life: Life): void {
    disk.isManual = true;
    this.#isWorking = false;
    const step = (): void => {
      disk.advance();
      this.#isWorking = false;
      if (disk.waiting > 0) begin();
    };
    const begin = (): void => {
      if (this.#isWorking) return;
      this.#isWorking = true;
      const time = this.#random.integer(0, this.plan.slowest);
      const act = this.isUp ? this.#duringWork : undefined;
      if (act !== undefined) {
        this.#duringWork = undefined;
        life.after(this.#random.integer(0, time), act);
      }
      life.after(time, step);
    };
    disk.onStep = begin;
  }
}

function withoutReplace(broker: Broker): FieldTable {
  const properties = new Map(serverProperties(broker));
  const own = properties.get('dlx_broker');
  if (own?.type !== 'F') throw new Error('the server announces no extensions');
  const value = new Map(own.value);
  if (!value.delete('replace')) throw new Error('the server announces no basic.replace');
  return properties.set('dlx_broker', { type: 'F', value });
}

const textOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
