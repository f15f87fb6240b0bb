import type { Feature } from '../../core/feature.js';
import { settingOf } from '../../core/handler-settings.js';
import type { Attempt, Next, Outcome, PlannedHandler } from '../../core/handler.js';
import type { Settlement } from '../../core/settlement.js';
import { Collector, type OutboxPlan } from './collector.js';
import { tagOf } from './collector.js';
import { outboxDecorator, type OutboxLimits } from './decorator.js';
import { endOutbox, OutboxGroup } from './group.js';
import { Outbox } from './outbox.js';
import type { OutboxScope } from './scope.js';

/**
 * What a handler emits leaves with the ack of its message, or not at all (`@Outbox`).
 * @param ofModule the limits of the option `outbox`
 */
export function outbox(
  scope: OutboxScope,
  ofModule: OutboxLimits | undefined,
  settlement: () => Pick<Settlement, 'trouble'>,
): Feature {
  const groups = new WeakMap<readonly Attempt[], OutboxGroup>();
  const planOf = ({ handler, queue }: PlannedHandler): OutboxPlan | undefined => {
    const limits = settingOf(handler, outboxDecorator) ?? ofModule;
    return limits === undefined || limits === false ? undefined : { ...limits, tag: tagOf(queue, handler.origin) };
  };
  const groupOf = (attempts: readonly Attempt[]): OutboxGroup => {
    let group = groups.get(attempts);
    if (group === undefined) groups.set(attempts, (group = new OutboxGroup(attempts)));
    return group;
  };
  /** Calls the handler. What it emits goes into the outbox. */
  const collected = (plan: OutboxPlan, outbox: Outbox, attempt: Attempt, next: Next): Promise<Outcome> => {
    const collector = new Collector(outbox, plan, attempt);
    attempt.context.collect(collector);
    attempt.leave = (then) => scope.leave(then);
    return scope.run(collector, next);
  };
  /** The disk of the broker may fail after a commit, or the channel end in it. */
  const noted = (outbox: Outbox, attempt: Attempt, outcome: Outcome): Outcome => {
    const { failure } = outbox;
    if (failure !== undefined && attempt.context.isSettled) settlement().trouble(attempt, uncommitted, failure);
    return outcome;
  };
  return {
    name: 'outbox',
    step(planned, sharing) {
      const plan = planOf(planned);
      if (plan === undefined && sharing.every((each) => planOf(each) === undefined)) return undefined;
      return async (attempt, next) => {
        if (attempt.sharing === undefined) {
          if (plan === undefined) return next();
          const outbox = new Outbox();
          attempt.replies?.hold(outbox);
          return noted(outbox, attempt, await endOutbox(outbox, attempt, await collected(plan, outbox, attempt, next)));
        }
        if (attempt.sharing.every((each) => planOf(each.planned) === undefined)) return next();
        const group = groupOf(attempt.sharing);
        const ended = plan === undefined ? await next() : await collected(plan, group.outbox, attempt, next);
        const outcome = await group.arrive(attempt, ended);
        return attempt === attempt.sharing[0] ? noted(group.outbox, attempt, outcome) : outcome;
      };
    },
  };
}

const uncommitted = 'was handled, but it is unknown whether it was settled, and what it emitted published';
