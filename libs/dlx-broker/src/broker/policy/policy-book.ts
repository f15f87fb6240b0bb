import type { Exchange } from '../exchange/exchange.js';
import type { MatchCost, Patterns } from '../patterns.js';
import { Policies } from './policy.js';
import type { Profile } from '../profile.js';
import type { QueueDeclared } from '../declarations.js';
import { effectiveSettings, type InForce } from '../queue/settings.js';

/** A virtual host's policies, and what they come to for each queue and exchange (rules F3 to F8, F12). */
export class PolicyBook {
  readonly user: Policies;
  readonly operator: Policies;
  readonly #profile: Profile;

  constructor(patterns: Patterns, profile: Profile) {
    this.user = new Policies(patterns, 'user', profile);
    this.operator = new Policies(patterns, 'operator', profile);
    this.#profile = profile;
  }

  /** Each pattern is asked once: names and settings come of the same answer. */
  inForce(queue: QueueDeclared, cost?: MatchCost): InForce {
    const { name, type, arguments: args } = queue;
    const policy = this.user.matchQueue(name, type, cost);
    const operatorPolicy = this.operator.matchQueue(name, type, cost);
    const settings = effectiveSettings(type, args, policy?.definition, operatorPolicy?.definition, this.#profile);
    return { settings, policy, operatorPolicy };
  }

  /** An alternate exchange by argument, else by policy (rule G6); the default exchange never has one. */
  applyToExchange(exchange: Exchange, cost?: MatchCost): void {
    const policy = this.user.matchExchange(exchange.name, cost);
    exchange.policy = policy?.name;
    const argument = exchange.declared.arguments.get('alternate-exchange');
    const byPolicy = exchange.name === '' ? undefined : policy?.definition.get('alternate-exchange');
    if (argument?.type === 'S') exchange.alternate = argument.value;
    else exchange.alternate = typeof byPolicy === 'string' ? byPolicy : undefined;
  }
}
