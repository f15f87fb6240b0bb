import type { Exchange } from './exchange/exchange.js';
import type { Patterns } from './patterns.js';
import { Policies } from './policy.js';
import type { Profile } from './profile.js';
import type { Queue, QueueDeclared } from './queue/queue.js';
import { effectiveSettings, type QueueSettings } from './queue/settings.js';

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

  settingsOf(queue: QueueDeclared): QueueSettings {
    const policy = this.user.matchQueue(queue.name, queue.type);
    const operatorPolicy = this.operator.matchQueue(queue.name, queue.type);
    const { type, arguments: args } = queue;
    return effectiveSettings(type, args, policy?.definition, operatorPolicy?.definition, this.#profile);
  }

  /** Writes the names of the policies in force on the queue, for those who look. */
  nameOn(queue: Queue): void {
    queue.policy = this.user.matchQueue(queue.name, queue.declared.type)?.name;
    queue.operatorPolicy = this.operator.matchQueue(queue.name, queue.declared.type)?.name;
  }

  /** An alternate exchange by argument, else by policy (rule G6). */
  applyToExchange(exchange: Exchange): void {
    const policy = this.user.matchExchange(exchange.name);
    exchange.policy = policy?.name;
    const argument = exchange.declared.arguments.get('alternate-exchange');
    const byPolicy = policy?.definition.get('alternate-exchange');
    if (argument?.type === 'S') exchange.alternate = argument.value;
    else exchange.alternate = typeof byPolicy === 'string' ? byPolicy : undefined;
  }
}
