import { after, shownText } from '../../../platform/index.js';
import { DlxConfigurationError, nearestWord } from '../../../platform/options/index.js';
import type { PlannedHandler } from '../../core/handler.js';
import type { OutcomeEvents } from '../../core/outcome-events.js';
import type { Plan } from '../../core/plan.js';
import type { QueueConsumers } from '../../core/queue-consumers.js';
import type { ResolvedOptions } from '../../module/options.js';
import type { Circuit, CircuitChange } from './circuit.js';
import { Circuits, type CircuitsParts } from './circuits.js';
import { DlxHandler } from './dlx-handler.js';
import type { HandlerStatus, OperatedHandlers } from '../../../server/index.js';
import type { HandlerGate } from './gate.js';
import { HandlerScope } from './gate.js';
import { RateLimits } from '../rate-limit/feature.js';

/** After this time in milliseconds a pause that waits is logged. */
const patience = 10_000;

/** What the gates of the handlers of a broker need. */
export interface HandlerGatesParts extends CircuitsParts {
  readonly options: ResolvedOptions;
  readonly events: OutcomeEvents;
  readonly consumers: () => Pick<QueueConsumers, 'adjust' | 'idle'>;
  readonly plan: () => Plan;
}

/** Pauses and resumes handlers, moves their consumers with their circuits, and reports both. */
export class HandlerGates {
  readonly circuits: Circuits;
  readonly scope = new HandlerScope();
  readonly rates: RateLimits;

  constructor(private readonly parts: HandlerGatesParts) {
    this.circuits = new Circuits(parts, (circuit, change, gates) => this.#changed(circuit, change, gates));
    this.rates = new RateLimits(parts.clock, (queue) => parts.consumers().adjust(queue));
  }

  get all(): readonly HandlerStatus[] {
    return this.#planned.map((planned) => this.#statusOf(planned));
  }

  /** The handlers that get no messages, or one at a time. */
  get stopped(): readonly HandlerStatus[] {
    return this.circuits.areMoved ? this.all.filter(({ state }) => state !== 'running') : [];
  }

  /** @throws DlxConfigurationError when there is no such handler */
  handler(name: string): DlxHandler {
    this.#named(name);
    this.scope.use();
    return new DlxHandler(name, {
      isInside: () => this.#named(name).some(({ queue }) => this.scope.isInside(queue)),
      status: () => this.#statusOf(this.#named(name)[0]!),
      pause: (reason) => this.#pause(name, reason),
      idle: () => this.#idle(name),
      resume: () => this.#resume(name),
      rateLimit: () => this.rates.of(this.#named(name)[0]!.queue)?.limit,
      setRateLimit: (rate) => this.#named(name).forEach((planned) => this.rates.change(planned, rate)),
    });
  }

  /** Resolves when no handler of its queues has a message in hand. The log says so if that takes long. */
  async #idle(name: string): Promise<void> {
    const { consumers, clock, log } = this.parts;
    const cancel = after(clock, patience, () => {
      const text =
        `the pause of ${name} waits since ${patience / 1_000} s for messages that it has in hand; a handler that pauses itself, directly or by ` +
        'what it calls, writes pause(reason, { wait: false })';
      log.write('pauseWaits', text, { handler: name });
    });
    await Promise.all(this.#named(name).map(({ queue }) => consumers().idle(queue))).finally(cancel);
  }

  /** @throws DlxConfigurationError when the probe of a circuit is no provider */
  check(): void {
    this.circuits.checkProbes();
  }

  /** For operators. */
  get operated(): OperatedHandlers {
    return {
      list: () => this.all,
      pause: (name: string, reason: string | undefined) => this.#pause(name, reason),
      resume: (name: string) => this.#resume(name),
    };
  }

  close(): void {
    this.circuits.close();
    this.rates.close();
  }

  get #planned(): readonly PlannedHandler[] {
    return this.parts.plan().consumers.flatMap(({ handlers }) => handlers);
  }

  /** The handlers of this name, which are several if a class is provided several times. */
  #named(name: string): readonly PlannedHandler[] {
    const all = this.#planned;
    const found = all.filter(({ handler }) => handler.origin === name);
    if (found.length > 0) return found;
    const names = [...new Set(all.map(({ handler }) => handler.origin))];
    const meant = nearestWord(String(name), names);
    const hint = meant === undefined ? '' : `did you mean '${meant}'? `;
    const text = `there is no handler '${shownText(String(name))}' in broker '${this.parts.options.name}'`;
    throw new DlxConfigurationError(`${text}; ${hint}there are ${names.join(', ') || 'none'}`);
  }

  #statusOf({ handler, queue }: PlannedHandler): HandlerStatus {
    return this.circuits.status(handler.origin, queue, this.circuits.ofHandler(handler));
  }

  #pause(name: string, reason: string | undefined): void {
    for (const { queue, handler } of this.#named(name)) {
      const circuit = this.circuits.ofHandler(handler);
      const gate = this.circuits.gate(queue, circuit);
      if (!gate.close({ reason, since: this.parts.clock.now() })) continue;
      this.parts.consumers().adjust(queue);
      this.#reportPause(gate, 'paused', reason);
    }
  }

  #resume(name: string): void {
    for (const { queue, handler } of this.#named(name)) {
      const circuit = this.circuits.ofHandler(handler);
      const gate = this.circuits.gate(queue, circuit);
      if (!gate.open()) continue;
      this.#reportPause(gate, 'resumed');
      this.parts.consumers().adjust(queue);
      circuit?.tryNow();
    }
  }

  #changed(circuit: Circuit, change: CircuitChange, gates: readonly HandlerGate[]): void {
    const { kind } = change;
    const { name, reason, pause } = circuit;
    this.#report(circuit, change);
    const about = { circuit: name, ...(kind === 'opened' && { reason: reason ?? '', delay: pause }) };
    for (const { queue } of gates) {
      for (const { handler } of this.#of(queue)) {
        this.parts.events.ofHandler(kind, queue, { handler: handler.origin, ...about });
      }
      this.parts.consumers().adjust(queue);
    }
  }

  #report({ name: circuit, reason, pause }: Circuit, { kind, isAgain }: CircuitChange): void {
    const { log } = this.parts;
    const [name, facts] = [`circuit '${circuit}'`, { circuit, pause, reason }];
    if (kind === 'closed') {
      return log.write('circuitClosed', `${name} closed: its handlers get messages again`, { circuit });
    }
    if (kind === 'probing') return log.write('circuitProbing', `${name} tries a message`, facts);
    // A failed probe is no news.
    if (isAgain) return log.write('circuitProbing', `${name} stays open for ${pause} ms: ${reason}`, facts);
    log.write('circuitOpened', `${name} opened: its handlers get no messages for ${pause} ms: ${reason}`, facts);
  }

  #reportPause(gate: HandlerGate, kind: 'paused' | 'resumed', reason?: string): void {
    const handlers = this.#of(gate.queue);
    const handler = handlers.map((planned) => planned.handler.origin).join(', ');
    const queue = shownText(gate.queue);
    const why = reason === undefined ? '' : `: ${shownText(reason)}`;
    const text = `${handler} is ${kind}, queue '${queue}'${why}`;
    if (kind === 'paused') this.parts.log.write('handlerPaused', text, { handler, queue, reason });
    else this.parts.log.write('handlerResumed', text, { handler, queue });
    const about = reason === undefined ? {} : { reason };
    for (const planned of handlers) {
      this.parts.events.ofHandler(kind, gate.queue, { handler: planned.handler.origin, ...about });
    }
  }

  #of(queue: string): readonly PlannedHandler[] {
    return this.#planned.filter((planned) => planned.queue === queue);
  }
}
