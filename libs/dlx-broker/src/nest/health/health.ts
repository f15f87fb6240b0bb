import { type Backend, type BackendState, serverOf } from '../../backends/index.js';
import { loopDelayOf, measureLoop, shownText, withoutPasswords } from '../../platform/index.js';
import type { EventLog } from '../log/event-log.js';
import { textOf } from '../core/failure-log.js';
import type { Connected } from '../module/options.js';
import type { DlxHealth, HealthProblem, OldestDeadLetter } from './answer.js';
import { OldestLetter, shownAge } from './oldest.js';
import type { ResolvedHealth } from './options.js';

/** How long an answer is used again, in milliseconds. A change of the connection or of the life cycle ends it at once. */
const lifetime = 1_000;

/** The parts of a broker that its health depends on. */
export interface HealthParts {
  readonly name: string;
  readonly options: ResolvedHealth;
  readonly backend: Backend;
  readonly condition: Connected['condition'];
  readonly log: EventLog;
  phase(): 'starting' | 'up' | 'closing';
  /** Patterns of a server that is connected and not started. */
  unserved(): readonly string[];
  consumers(): { readonly count: number; readonly ended: readonly string[]; readonly handling: number };
  /** The handlers that get no messages, or one at a time. */
  stopped(): DlxHealth['stopped'];
  stuck(): DlxHealth['stuck'];
  parked(): number;
  /** The queues whose dead letters are looked at. */
  deadLetterQueues(): Iterable<string>;
}

/** Answers health checks from what this process knows. It never publishes or declares. */
export class Health {
  readonly #oldest: OldestLetter | undefined;
  #delays: ReturnType<typeof measureLoop> | undefined;
  #known: { readonly at: number; readonly state: string; readonly answer: Promise<DlxHealth> } | undefined;

  constructor(private readonly parts: HealthParts) {
    const { options, backend, log } = parts;
    if (options.deadLetters === undefined) return;
    this.#oldest = new OldestLetter(backend, () => options.deadLetters?.queues ?? parts.deadLetterQueues(), log);
  }

  /** Begins to measure the event loop, if it has a limit. */
  start(): void {
    if (this.parts.options.loopDelay === undefined || this.#delays !== undefined) return;
    this.#delays = measureLoop();
  }

  close(): void {
    this.#delays?.disable();
    this.#delays = undefined;
  }

  /** The present health. It never rejects. Answers of the same second are the same. */
  get(): Promise<DlxHealth> {
    const { backend, phase } = this.parts;
    const now = backend.clock.now();
    const state = `${phase()} ${backend.state.kind}`;
    const known = this.#known;
    if (known?.state === state && now >= known.at && now - known.at < lifetime) return known.answer;
    const answer = this.#look();
    this.#known = { at: now, state, answer };
    return answer;
  }

  async #look(): Promise<DlxHealth> {
    const oldestDeadLetter = await this.#oldest?.get();
    const loopDelay = this.#maxDelay();
    const { parts } = this;
    const { state } = parts.backend;
    const { count, handling } = parts.consumers();
    const problems = this.#problems(oldestDeadLetter, loopDelay);
    const isConnected = state.kind === 'ready' || state.kind === 'blocked';
    return {
      isAlive: !problems.some(({ name }) => name === 'storage-failed'),
      isReady: problems.length === 0,
      problems,
      broker: parts.name,
      server: isConnected ? shownText(serverOf(state), longest) : undefined,
      connection: state.kind,
      consumers: count,
      handling,
      stopped: parts.stopped(),
      stuck: parts.stuck(),
      parked: parts.parked(),
      oldestDeadLetter,
      loopDelay,
    };
  }

  #problems(oldest: OldestDeadLetter | undefined, loopDelay: number | undefined): readonly HealthProblem[] {
    const { parts } = this;
    const { deadLetters, loopDelay: mostDelay = Infinity } = parts.options;
    const { faults = [], alarms = [] } = parts.condition?.() ?? {};
    const problems: HealthProblem[] = [];
    const add = (name: HealthProblem['name'], reason: string): void => {
      problems.push({ name, reason: shown(reason) });
    };
    const phase = parts.phase();
    if (phase === 'closing') add('closing', 'the application shuts down');
    for (const { name, reason } of faults) {
      add(name === 'storage_failed' ? 'storage-failed' : 'storage-unreadable', reason);
    }
    if (phase === 'starting') add('not-started', 'the application has not started');
    if (phase !== 'up') return problems; // the connection and the consumers may be open already, or closed by intent
    const unserved = parts.unserved();
    if (unserved.length > 0) add('not-started', `the DlxServer is not started, for '${unserved.join("', '")}'`);
    const broken = connectionProblem(parts.backend.state);
    if (broken !== undefined) problems.push(broken);
    if (alarms.length > 0) add('alarm', `the broker takes no publishes: it is low on ${alarms.join(' and ')}`);
    const { ended } = parts.consumers();
    if (ended.length > 0) add('consumers', `the broker ended the consumers of '${ended.join("', '")}'`);
    if (oldest !== undefined && oldest.age * 1_000 > (deadLetters?.maxAge ?? Infinity)) {
      add('dead-letters', `${shownAge(oldest)}; the limit is ${(deadLetters?.maxAge ?? 0) / 1_000} s`);
    }
    if (loopDelay !== undefined && loopDelay > mostDelay) {
      add('event-loop', `the event loop was blocked for ${loopDelay} ms; the limit is ${mostDelay} ms`);
    }
    return problems;
  }

  #maxDelay(): number | undefined {
    if (this.#delays === undefined) return undefined;
    const { max } = this.#delays;
    this.#delays.reset();
    return Math.round(loopDelayOf(max));
  }
}

/** The most characters of a reason. Servers and disks write parts of it. */
const longest = 500;

const shown = (reason: string): string => shownText(withoutPasswords(reason), longest);

function connectionProblem(state: BackendState): HealthProblem | undefined {
  switch (state.kind) {
    case 'ready':
      return undefined;
    case 'blocked':
      return { name: 'alarm', reason: shown(`the server takes no publishes: ${state.reason}`) };
    case 'connecting':
    case 'reconnecting':
    case 'closed': {
      const why = state.failure === undefined ? '' : `: ${textOf(state.failure)}`;
      return { name: 'connection', reason: shown(`not connected (${state.kind})${why}`) };
    }
  }
}
