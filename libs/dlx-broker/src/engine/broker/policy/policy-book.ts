import type { Exchange } from '../exchange/exchange.js';
import type { MatchCost, Patterns } from '../patterns.js';
import { Policies } from './policy.js';
import type { Profile } from '../profile.js';
import type { Policy, QueueDeclared } from '../declarations.js';
import { effectiveSettings, type InForce } from '../queue/settings.js';

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
