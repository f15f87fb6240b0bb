import type { Type } from '@nestjs/common';
import type { Clock } from '../../../engine/broker/index.js';
import { OwnTimers } from '../../../platform/index.js';
import { DlxConfigurationError, nearestWord } from '../../../platform/options/index.js';
import { settingOf } from '../../core/handler-settings.js';
import { errorFacts, textOf } from '../../core/failure-log.js';
import type { Handler } from '../../core/handler.js';
import { notRetryable } from '../../core/plan.js';
import type { EventLog } from '../../log/event-log.js';
import type { ResolvedOptions } from '../../module/options.js';
import { anyOf } from '../../retry/index.js';
import { Circuit, type CircuitChange } from './circuit.js';
import { circuitDecorator } from './decorator.js';
import type { HandlerStatus } from '../../../server/index.js';
import { HandlerGate } from './gate.js';
import type { HealthProbe, ResolvedCircuit } from './options.js';

/** How long a probe may take to answer, in milliseconds. */
const patience = 10_000;

/**
 * Asks a probe. A probe that fails, or does not answer within 10 seconds, decides nothing: then a message is tried, because a faulty
 * probe must not stop a queue for ever.
 * @param fault called with the reason when the probe decided nothing
 * @returns a promise that never rejects. It stays open if the timers are closed before the probe answers
 */
function askProbe(probe: HealthProbe, timers: OwnTimers, fault: (error: unknown) => void): Promise<boolean> {
  return new Promise((resolve) => {
    let isOver = false;
    const decide = (answer: unknown): void => {
      if (isOver) return;
      isOver = true;
      cancel();
      if (typeof answer !== 'boolean') fault(answer);
      resolve(answer !== false);
    };
    const cancel = timers.after(patience, () => decide(new Error(`it did not answer within ${patience} ms`)));
    const noAnswer = (answer: unknown): unknown =>
      typeof answer === 'boolean' ? answer : new TypeError('it answered neither true nor false');
    const failed = (error: unknown): void => decide(typeof error === 'boolean' ? new Error(String(error)) : error);
    try {
      Promise.resolve(probe.isUp()).then((answer) => decide(noAnswer(answer)), failed);
    } catch (error) {
      failed(error);
    }
  });
}

/** What the circuits of a broker need. */
export interface CircuitsParts {
  readonly options: Pick<ResolvedOptions, 'circuits' | 'random'>;
  readonly clock: Clock;
  /** Finds a provider by its class. @throws when there is none */
  readonly provider: (type: Type<HealthProbe>) => HealthProbe;
  readonly log: EventLog;
}

const isUnretryable = anyOf(notRetryable, 'the default of neverRetry');

/** The circuits and gates of a broker. They keep their states while the handlers are planned again. */
export class Circuits {
  readonly #circuits = new Map<string, Circuit>();
  readonly #gates = new Map<string, HandlerGate>();
  /** The time limits of probes. */
  readonly #timers: OwnTimers;

  /** @param changed called after each change of a circuit, with the gates that it moves */
  constructor(
    private readonly parts: CircuitsParts,
    private readonly changed: (circuit: Circuit, change: CircuitChange, gates: readonly HandlerGate[]) => void,
  ) {
    this.#timers = new OwnTimers(parts.clock);
  }

  /** The circuits that handlers have, in the order of their first use. */
  get all(): Iterable<Circuit> {
    return this.#circuits.values();
  }

  /** False while all handlers get messages. */
  get areMoved(): boolean {
    for (const gate of this.#gates.values()) if (gate.admission !== 'all') return true;
    return false;
  }

  /**
   * The circuit of a handler.
   * @param setting its name in the option `circuits`, or the options of a circuit for this handler alone
   * @param handler class and method
   * @throws DlxConfigurationError for an unknown name
   */
  of(setting: string | ResolvedCircuit, handler: string): Circuit {
    const name = typeof setting === 'string' ? setting : handler;
    const known = this.#circuits.get(name);
    if (known !== undefined) return known;
    const options = typeof setting === 'string' ? this.parts.options.circuits.get(setting) : setting;
    if (options === undefined) throw this.#unknown(name, handler);
    const circuit = this.#make(name, options);
    this.#circuits.set(name, circuit);
    return circuit;
  }

  /** The circuit of a handler; undefined without `@Circuit`. */
  ofHandler(handler: Handler): Circuit | undefined {
    const setting = settingOf(handler, circuitDecorator);
    return setting === undefined ? undefined : this.of(setting, handler.origin);
  }

  /** The gate of a queue. */
  gate(queue: string, circuit: Circuit | undefined): HandlerGate {
    let gate = this.#gates.get(queue);
    if (gate === undefined) this.#gates.set(queue, (gate = new HandlerGate(queue, circuit)));
    return gate;
  }

  /** Why the handlers of a queue get no messages by their circuit; undefined if they do. */
  obstacle(queue: string): string | undefined {
    const circuit = this.#gates.get(queue)?.circuit;
    return circuit === undefined || circuit.state === 'closed' ? undefined : `circuit '${circuit.name}' is open`;
  }

  status(handler: string, queue: string, circuit: Circuit | undefined): HandlerStatus {
    const about = { handler, queue, ...(circuit !== undefined && { circuit: circuit.name }) };
    const pause = this.#gates.get(queue)?.pause;
    if (pause !== undefined) {
      const { reason, since } = pause;
      return { ...about, state: 'paused', ...(reason !== undefined && { reason }), since: new Date(since) };
    }
    if (circuit === undefined || circuit.state === 'closed') return { ...about, state: 'running' };
    const { state, reason, since, nextProbe } = circuit;
    return {
      ...about,
      state,
      ...(reason !== undefined && { reason }),
      since: new Date(since),
      ...(nextProbe !== undefined && { nextProbe: new Date(nextProbe) }),
    };
  }

  /** @throws DlxConfigurationError when the probe of a circuit is no provider */
  checkProbes(): void {
    for (const { name, options } of this.all) if (options.probe !== undefined) this.#providerOf(name, options.probe);
  }

  close(): void {
    this.#timers.close();
    for (const circuit of this.all) circuit.close();
  }

  #make(name: string, options: ResolvedCircuit): Circuit {
    const { clock, log } = this.parts;
    const { probe } = options;
    /** Logs a fault in a function of the application. */
    const doubt = (text: string, error: unknown): void =>
      log.write('circuitDoubtful', `circuit '${name}': ${text}: ${textOf(error)}`, {
        circuit: name,
        ...errorFacts(error),
      });
    const faulty = (error: unknown): void =>
      doubt(`its probe ${probe?.name} decided nothing, so a message is tried`, error);
    return new Circuit(name, options, {
      clock,
      random: this.parts.options.random,
      isUnretryable,
      textOf,
      ask: probe && (() => askProbe(this.#providerOf(name, probe), this.#timers, faulty)),
      changed: (circuit, change) => {
        const gates = [...this.#gates.values()].filter((gate) => gate.circuit === circuit);
        this.changed(circuit, change, gates);
      },
      broken: (_, error) => doubt('a message that waited for its probe failed', error),
      fault: (_, error) => doubt("its function 'on' failed, and the error does not count", error),
    });
  }

  #providerOf(circuit: string, type: Type<HealthProbe>): HealthProbe {
    try {
      return this.parts.provider(type);
    } catch (error) {
      const text = `circuit '${circuit}': its probe ${type.name} is no provider of this application, or is made for each request`;
      throw new DlxConfigurationError(`${text}; add it to the providers of a module`, { cause: error });
    }
  }

  #unknown(name: string, handler: string): DlxConfigurationError {
    const known = [...this.parts.options.circuits.keys()];
    const meant = nearestWord(name, known);
    const text = `@Circuit on ${handler}: the option 'circuits' has no '${name}'`;
    if (meant !== undefined) return new DlxConfigurationError(`${text}; did you mean '${meant}'?`);
    const all = known.length === 0 ? 'it is empty' : `it has ${known.map((one) => `'${one}'`).join(', ')}`;
    return new DlxConfigurationError(`${text} (${all}); write forRoot({ circuits: { '${name}': {} } })`);
  }
}
