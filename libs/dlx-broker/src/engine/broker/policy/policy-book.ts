import type { Policy, QueueDeclared } from '../declarations.js';
import type { Exchange } from '../exchange/exchange.js';
import type { MatchCost, Patterns } from '../patterns.js';
import type { Profile } from '../profile.js';
import type { Queue } from '../queue/queue.js';
import { effectiveSettings, type InForce } from '../queue/settings.js';
import type { Task } from '../scheduler/task.js';
import { Policies } from './policy.js';

/** The policies of a virtual host, and the settings that they give to each queue and exchange (rules F3 to F8, F12). */
export class PolicyBook {
  readonly user: Policies;
  readonly operator: Policies;
  readonly #profile: Profile;

  constructor(patterns: Patterns, profile: Profile) {
    this.user = new Policies(patterns, 'user', profile);
    this.operator = new Policies(patterns, 'operator', profile);
    this.#profile = profile;
  }

  /** Names and settings of the policies of a queue. Each pattern is matched once. */
  inForce(queue: QueueDeclared, cost?: MatchCost): InForce {
    const { name, type } = queue;
    return this.#under(queue, this.user.matchQueue(name, type, cost), this.operator.matchQueue(name, type, cost));
  }

  /** The same for a queue that had these before the last changes of policies; the same object if nothing changes for it. */
  stillInForce(queue: QueueDeclared, before: InForce, cost?: MatchCost): InForce {
    const { name, type } = queue;
    const policy = this.user.rematchQueue(before.policy, name, type, cost);
    const operatorPolicy = this.operator.rematchQueue(before.operatorPolicy, name, type, cost);
    if (policy === before.policy && operatorPolicy === before.operatorPolicy) return before;
    return this.#under(queue, policy, operatorPolicy);
  }

  #under({ type, arguments: args }: QueueDeclared, policy?: Policy, operatorPolicy?: Policy): InForce {
    const settings = effectiveSettings(type, args, policy?.definition, operatorPolicy?.definition, this.#profile);
    return { settings, policy, operatorPolicy };
  }

  /** The policies of all queues are those of {@link stillInForce}. */
  applied(): void {
    this.user.applied();
    this.operator.applied();
  }

  /** Sets the alternate exchange: by argument, or else by policy (rule G6). The default exchange never has one. */
  applyToExchange(exchange: Exchange, cost?: MatchCost): void {
    const policy = this.user.matchExchange(exchange.name, cost);
    exchange.policy = policy?.name;
    const argument = exchange.declared.arguments.get('alternate-exchange');
    const byPolicy = exchange.name === '' ? undefined : policy?.definition.get('alternate-exchange');
    if (argument?.type === 'S') exchange.alternate = argument.value;
    else exchange.alternate = typeof byPolicy === 'string' ? byPolicy : undefined;
  }
}

/** The steps of pattern matching that count as one step of the scheduler. */
const matchingSteps = 20;
/** The steps of the scheduler that one queue or exchange counts, besides the matching. */
const stepsPerObject = 2;

/** The exchanges, queues and policies of a virtual host. */
interface PolicyTargets {
  readonly exchanges: ReadonlyMap<string, Exchange>;
  readonly queues: ReadonlyMap<string, Queue>;
  readonly policies: PolicyBook;
}

/**
 * Applies the policies to all queues and exchanges (rule F6), in turns that count the steps of pattern matching. An object that is
 * declared meanwhile gets its policy when it is declared. After a change of the policies the task begins again.
 */
export class ApplyPolicies implements Task {
  readonly #cost: MatchCost = { steps: 0 };
  readonly #waiters: (() => void)[] = [];
  #exchanges: Iterator<Exchange, undefined> | undefined;
  #queues: Iterator<Queue, undefined> | undefined;
  #isAskedAgain = false;

  constructor(
    readonly targets: PolicyTargets,
    /** Called after the last step. */
    readonly ended: () => void,
  ) {}

  /** Begins again, because the policies have changed. */
  again(): void {
    this.#isAskedAgain = true;
  }

  /** Calls `callback` when the present policies are applied to all objects. */
  whenDone(callback: () => void): void {
    this.#waiters.push(callback);
  }

  work(now: number, limit: number): number {
    let steps = 0;
    while (steps < limit) {
      this.#cost.steps = 0;
      if (!this.#applyNext(now)) {
        if (!this.#isAskedAgain) return this.#end(steps);
        this.#isAskedAgain = false;
        this.#exchanges = undefined;
        this.#queues = undefined;
        continue;
      }
      steps += stepsPerObject + Math.floor(this.#cost.steps / matchingSteps);
    }
    return steps;
  }

  /** @returns false if no object was left */
  #applyNext(now: number): boolean {
    const { exchanges, queues, policies } = this.targets;
    this.#exchanges ??= exchanges.values();
    const exchange = this.#exchanges.next().value;
    if (exchange !== undefined) {
      policies.applyToExchange(exchange, this.#cost);
      return true;
    }
    this.#queues ??= queues.values();
    const queue = this.#queues.next().value;
    if (queue === undefined) return false;
    const inForce = policies.stillInForce(queue.declared, queue.inForce, this.#cost);
    if (inForce !== queue.inForce) queue.apply(inForce, now);
    return true;
  }

  #end(steps: number): number {
    this.targets.policies.applied();
    this.ended();
    for (const callback of this.#waiters) callback();
    return steps;
  }
}
