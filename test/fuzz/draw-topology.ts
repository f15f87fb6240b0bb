import type { Random } from './random.js';
import type { Step, Value, Values } from './program.js';

/** Names a program may use, some of them never declared. */
export interface Names {
  readonly queues: readonly string[];
  readonly exchanges: readonly string[];
}

export const bindingKeys = ['a', 'b', 'a.b', 'a.#', '*.b', '#', ''] as const;
export const routingKeys = ['a', 'b', 'a.b', 'c.b', ''] as const;

type Mutable = Record<string, Value>;

export const drawNames = (random: Random): Names => ({
  queues: Array.from({ length: random.integer(2, 5) }, (_, index) => `q${index}`),
  exchanges: Array.from({ length: random.integer(1, 4) }, (_, index) => `x${index}`),
});

/** Declares and binds everything, exchanges first. */
export function drawTopology(random: Random, names: Names): Step[] {
  const types = new Map(
    names.exchanges.map((name) => [name, random.weighted({ direct: 3, fanout: 3, topic: 3, headers: 2 })]),
  );
  const steps: Step[] = names.exchanges.map((name) => drawExchange(random, names, name, types.get(name) as string));
  for (const name of names.queues) steps.push(drawQueue(random, names, name));
  if (random.chance(0.4)) closeLoop(random, names, steps);
  for (const [from, type] of types) {
    for (let left = random.integer(1, 3); left > 0; left--) steps.push(drawBinding(random, names, from, type));
  }
  return steps;
}

/** The first two queues dead-letter to each other, one of them in time: a retry loop (rule E1), or part of it. */
function closeLoop(random: Random, names: Names, steps: Step[]): void {
  const [work, delay] = names.queues as [string, string];
  for (const [index, step] of steps.entries()) {
    if (step.do !== 'declareQueue' || (step.name !== work && step.name !== delay)) continue;
    const args: Mutable = {
      ...step.args,
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': step.name === work ? delay : work,
    };
    if (step.name === delay && !('x-max-priority' in args))
      args['x-message-ttl'] = { units: quorum(step) ? 1 : random.pick([0, 1, 1]) };
    if (step.name === work && random.chance(0.7)) delete args['x-message-ttl'];
    steps[index] = { ...step, args };
  }
}

const quorum = ({ args }: Extract<Step, { do: 'declareQueue' }>): boolean => args['x-queue-type'] === 'quorum';

function drawExchange(random: Random, names: Names, name: string, type: string): Step {
  const args: Mutable = random.chance(0.2) ? { 'alternate-exchange': random.pick([...names.exchanges, 'none']) } : {};
  const flags: Mutable = {};
  if (random.chance(0.06)) flags['internal'] = true;
  if (random.chance(0.06)) flags['autoDelete'] = true;
  return { do: 'declareExchange', channel: 0, name, type, flags, args };
}

export function drawBinding(random: Random, names: Names, from: string, type: string): Step {
  const args: Mutable = {};
  if (type === 'headers') {
    if (random.chance(0.7)) args['x-match'] = random.pick(['all', 'any', 'all-with-x', 'any-with-x']);
    if (random.chance(0.6)) args['h'] = random.integer(0, 1);
    if (random.chance(0.3)) args['x-first-death-reason'] = random.pick(['rejected', 'expired', 'maxlen']);
    if (random.chance(0.2)) args['x-first-death-queue'] = random.pick(names.queues);
  }
  const key = random.pick(bindingKeys);
  if (random.chance(0.2)) return { do: 'bindExchange', channel: 0, to: random.pick(names.exchanges), from, key, args };
  return { do: 'bindQueue', channel: 0, to: random.pick(names.queues), from, key, args };
}

/** @param type the one it had before: 3.10.8 fails with 541 on a channel that knew the name as another type */
export function drawQueue(random: Random, names: Names, name: string, type?: 'quorum' | 'classic'): Step {
  const quorum = type === undefined ? random.chance(0.2) : type === 'quorum';
  const args = quorum ? drawQuorumArguments(random) : drawClassicArguments(random);
  if (random.chance(0.82)) Object.assign(args, drawDeadLettering(random, names));
  if (random.chance(0.4) && !('x-max-priority' in args)) args['x-message-ttl'] = drawTtl(random, quorum);
  // Half way between what else may happen; a quorum queue looks at its own time every five seconds only.
  if (!quorum && random.chance(0.05)) args['x-expires'] = { units: 1.5 };
  const flags: Mutable = quorum || random.chance(0.2) ? { durable: true } : {};
  if (!quorum && random.chance(0.04)) flags['autoDelete'] = true;
  return { do: 'declareQueue', channel: 0, name, flags, args };
}

/** Rule D6: a TTL of 0 is a matter of milliseconds on a quorum queue. */
const drawTtl = (random: Random, quorum: boolean): Value => ({
  units: random.pick(quorum ? [1, 1, 2] : [0, 1, 1, 1, 2, 3]),
});

function drawDeadLettering(random: Random, names: Names): Mutable {
  const exchange = random.pick(['', '', ...names.exchanges, ...names.exchanges, 'none']);
  const args: Mutable = { 'x-dead-letter-exchange': exchange };
  if (exchange === '' ? random.chance(0.9) : random.chance(0.4)) {
    args['x-dead-letter-routing-key'] =
      exchange === '' ? random.pick(names.queues) : random.pick([...routingKeys, ...names.queues]);
  }
  return args;
}

function drawClassicArguments(random: Random): Mutable {
  const args = drawLimits(random, ['drop-head', 'reject-publish', 'reject-publish-dlx']);
  if (random.chance(0.12)) args['x-max-priority'] = random.integer(1, 5);
  if (random.chance(0.1)) args['x-single-active-consumer'] = true;
  return args;
}

function drawQuorumArguments(random: Random): Mutable {
  // Rule V11: a limit and reject-publish together act on each channel by itself there.
  const args: Mutable = random.chance(0.3) ? drawLimits(random, ['drop-head', 'reject-publish-dlx']) : {};
  args['x-queue-type'] = 'quorum';
  if (random.chance(0.6)) args['x-delivery-limit'] = random.pick([0, 0, 1, 2, 3]);
  if (random.chance(0.1)) args['x-single-active-consumer'] = true;
  if (random.chance(0.25)) args['x-dead-letter-strategy'] = random.pick(['at-most-once', 'at-least-once']);
  if (
    args['x-dead-letter-strategy'] === 'at-least-once' &&
    !('x-max-length' in args) &&
    !('x-max-length-bytes' in args)
  ) {
    args['x-overflow'] = 'reject-publish';
  }
  return args;
}

function drawLimits(random: Random, overflows: readonly string[]): Mutable {
  const args: Mutable = {};
  if (random.chance(0.3)) args['x-max-length'] = random.integer(0, 3);
  if (random.chance(0.12)) args['x-max-length-bytes'] = random.pick([0, 5, 10, 20]);
  if (Object.keys(args).length > 0 && random.chance(0.5)) args['x-overflow'] = random.pick(overflows);
  return args;
}

/** The definition of a policy, of few keys. */
export function drawPolicy(random: Random, names: Names, operator: boolean): Extract<Step, { do: 'setPolicy' }> {
  const all: Record<string, () => Value> = {
    'message-ttl': () => ({ units: random.integer(1, 3) }),
    'max-length': () => random.integer(0, 3),
    'max-length-bytes': () => random.pick([0, 5, 10]),
    'delivery-limit': () => random.integer(0, 2),
    ...(operator
      ? {}
      : {
          'dead-letter-exchange': () => random.pick(['', ...names.exchanges]),
          'dead-letter-routing-key': () => random.pick([...names.queues, 'a', '']),
          overflow: () => random.pick(['drop-head', 'reject-publish', 'reject-publish-dlx']),
          'alternate-exchange': () => random.pick(names.exchanges),
        }),
  };
  const definition: Record<string, Value> = {};
  for (let left = random.integer(1, 3); left > 0; left--) {
    const key = random.pick(Object.keys(all));
    definition[key] = (all[key] as () => Value)();
  }
  // Of two that match with one priority 3.10.8 takes either, by a hash of their names and the virtual host's.
  const number = random.integer(0, 1);
  return {
    do: 'setPolicy',
    name: `p${number}`,
    operator,
    pattern: random.pick(['.*', '^q', '^q[01]$', '^x', '0', `^${random.pick(names.queues)}$`]),
    applyTo: operator ? 'queues' : random.weighted({ queues: 3, all: 2, exchanges: 1 }),
    priority: random.pick([-2, 0, 2]) + number,
    definition: definition as Values,
  };
}
