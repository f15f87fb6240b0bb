import type { Clock } from '../../engine/broker/index.js';
import { type HomeContext, OwnTimers } from '../../platform/index.js';
import type { DeathKind } from '../decorators/on-dead-letter.js';
import type { EventLog } from '../log/event-log.js';
import { errorFacts, stackOf, textOf } from '../core/failure-log.js';
import type { Death, DeathHook } from './death.js';

/** The most calls of a method that are under way, and wait. The method is not called for further deaths. */
const mostCalls = 1_000;
/** After this time in milliseconds a call that has not ended is logged, and not waited for: it does not count any more. */
const patience = 60_000;

/** Calls the methods with `@OnDeadLetter`. Nothing that they do changes what becomes of a message. */
export class DeathHooks {
  readonly #calls = new Map<DeathHook, number>();
  readonly #full = new Set<DeathHook>();
  /** When calls that hang were logged last, for each method. */
  readonly #logged = new Map<DeathHook, number>();
  readonly #timers: OwnTimers;

  constructor(
    private readonly hooks: readonly DeathHook[],
    private readonly clock: Clock,
    private readonly home: HomeContext,
    private readonly log: EventLog,
  ) {
    this.#timers = new OwnTimers(clock);
  }

  /** True if a method is called for deaths of this kind. */
  handles(kind: string): kind is DeathKind {
    return this.hooks.some(({ kinds }) => kinds.has(kind as DeathKind));
  }

  notify(death: Death): void {
    for (const hook of this.hooks) {
      if (!hook.kinds.has(death.kind) || !hook.matches(death.queue)) continue;
      // Later, so that the message and its span are done with, and outside of the async context of the message.
      queueMicrotask(() => this.home.fresh((one) => this.#call(hook, one), undefined, death));
    }
  }

  /** Waits for no call any more: the timer of one that never ends would keep the process alive. */
  close(): void {
    this.#timers.close();
  }

  #call(hook: DeathHook, death: Death): void {
    const calls = this.#calls.get(hook) ?? 0;
    if (calls >= mostCalls) return this.#tooMany(hook);
    try {
      const answer = hook.call(death);
      if (typeof (answer as PromiseLike<unknown> | undefined)?.then !== 'function') return;
      this.#calls.set(hook, calls + 1);
      let isCounted = true;
      const ended = (): void => {
        if (!isCounted) return;
        isCounted = false;
        cancel();
        const left = (this.#calls.get(hook) ?? 1) - 1;
        this.#calls.set(hook, left);
        if (left < mostCalls / 2) this.#full.delete(hook);
      };
      const cancel = this.#timers.after(patience, () => {
        this.#hangs(hook);
        ended();
      });
      Promise.resolve(answer).then(ended, (error: unknown) => {
        ended();
        this.#failed(hook, error);
      });
    } catch (error) {
      this.#failed(hook, error);
    }
  }

  #failed({ origin }: DeathHook, error: unknown): void {
    const text = `@OnDeadLetter on ${origin} failed: ${textOf(error)}`;
    this.log.write('deathHookFailed', text, { handler: origin, ...errorFacts(error) }, stackOf(error));
  }

  #hangs(hook: DeathHook): void {
    const now = this.clock.now();
    if (now - (this.#logged.get(hook) ?? -Infinity) < patience) return;
    this.#logged.set(hook, now);
    const { origin } = hook;
    const seconds = patience / 1_000;
    const text =
      `@OnDeadLetter on ${origin} did not end within ${seconds} s; the broker does not wait for it. ` +
      `Further ones of the next ${seconds} s are not logged`;
    this.log.write('deathHookHangs', text, { handler: origin });
  }

  #tooMany(hook: DeathHook): void {
    if (this.#full.has(hook)) return;
    this.#full.add(hook);
    const { origin } = hook;
    const text = `@OnDeadLetter on ${origin} has ${mostCalls} calls under way; it is not called for further deaths until some end, or hang for ${patience / 1_000} s`;
    this.log.write('deathHookHangs', text, { handler: origin });
  }
}
