import type { Field } from '../../libs/dlx-broker/src/engine/message/index.js';
import type { Finding } from './campaign.js';
import { isUnits, type Sent, type Step, type Value, type Values } from './program.js';
import { channelCount } from './rehearsal.js';

/** Milliseconds of a unit in a pasted case. */
const unit = 200;

type Shown = Readonly<Record<string, unknown>>;

/** A difference as a case to paste into the contract suite; what is expected is what the other showed. */
export function asCase({ seed, program, difference }: Finding): string {
  const shown = difference.other as Shown;
  const last = program[difference.at] as Step;
  const before = program
    .slice(0, difference.at)
    .map((step) => `${lineOf(step)};${settles(step) ? ' await session.settle();' : ''}`);
  const { code, expected } = lookAt(last, shown, difference.engine as Shown);
  return [
    'contract(',
    `  'rule ?: seed ${seed}',`,
    '  async (session, channel) => {',
    ...Array.from(
      { length: channelCount },
      (_, index) => `    const ch${index} = ${index === 0 ? 'channel' : 'await session.channel()'};`,
    ),
    ...before.map((line) => `    ${line}`),
    ...code.map((line) => `    ${line}`),
    '  },',
    `  ${JSON.stringify(expected)},`,
    '),',
  ].join('\n');
}

/** The last step, and the differing parts that fit into one line. */
function lookAt(last: Step, rabbitmq: Shown, engine: Shown): { code: string[]; expected: Shown } {
  const looks: string[] = [];
  const expected: Record<string, unknown> = {};
  const code: string[] = [];
  const outcome = rabbitmq['outcome'];
  if (last.do === 'drain') {
    looks.push(`drained: bodies(await session.drain('${last.queue}'))`);
    expected['drained'] = Array.isArray(outcome) ? bodiesOf(outcome) : outcome;
  } else if (last.do === 'get') {
    code.push(`const got = await ${lineOf(last).replace(/^const \w+ = await /, '')};`);
    looks.push('got: got?.body');
    expected['got'] = (outcome as { body?: string }).body;
  } else if (last.do === 'publish' || last.do === 'consume') {
    code.push(`${lineOf(last)};`, 'await session.settle();');
  } else {
    code.push(
      `const outcome = await attempt(${lineOf(last).replace(/^(const \w+ = )?await /, '')});`,
      'await session.settle();',
    );
    looks.push('outcome');
    expected['outcome'] = typeof outcome === 'object' && outcome !== null && 'closes' in outcome ? outcome : 'ok';
  }
  const counts = rabbitmq['queues'] as Shown;
  for (const [queue, count] of Object.entries(counts)) {
    if (count === (engine['queues'] as Shown)[queue] || count === 'gone') continue;
    looks.push(`${queue}: (await (await session.channel()).declareQueue('${queue}', { passive: true })).messageCount`);
    expected[queue] = Number.parseInt(String(count));
  }
  const deliveries = rabbitmq['deliveries'] as Readonly<Record<string, readonly unknown[]>>;
  for (const [consumer, messages] of Object.entries(deliveries)) {
    if (JSON.stringify(messages) === JSON.stringify((engine['deliveries'] as Shown)[consumer])) continue;
    looks.push(`${consumer}: bodies(${consumer}.messages)`);
    expected[consumer] = bodiesOf(messages);
  }
  return { code: [...code, `return { ${looks.join(', ')} };`], expected };
}

const bodiesOf = (messages: readonly unknown[]): unknown[] =>
  messages.map((message) => (message as { body?: string }).body);

const settles = (step: Step): boolean =>
  ['consume', 'publish', 'settle', 'recover', 'close', 'qos', 'txCommit', 'txRollback'].includes(step.do);

function lineOf(step: Step): string {
  switch (step.do) {
    case 'elapse':
      return `await session.elapse(${step.units * unit + 60})`;
    case 'drain':
      return `await session.drain('${step.queue}')`;
    case 'setPolicy': {
      const { name, operator, definition, ...others } = step;
      const policy = JSON.stringify({
        pattern: others.pattern,
        applyTo: others.applyTo,
        priority: others.priority,
        definition: plain(definition),
      });
      return `await session.${operator ? 'setOperatorPolicy' : 'setPolicy'}('${name}', ${policy})`;
    }
    case 'clearPolicy':
      return `await session.${step.operator ? 'clearOperatorPolicy' : 'clearPolicy'}('${step.name}')`;
    default:
      return onChannel(step, `ch${step.channel}`);
  }
}

function onChannel(step: Extract<Step, { channel: number }>, channel: string): string {
  const flags = (values: Values): string =>
    Object.entries(values)
      .map(([name, value]) => `${name}: ${JSON.stringify(value)}, `)
      .join('');
  const withArguments = (values: Values): string => `args(${JSON.stringify(plain(values))})`;
  switch (step.do) {
    case 'declareExchange':
      return `await ${channel}.declareExchange('${step.name}', '${step.type}', { ${flags(step.flags)}arguments: ${withArguments(step.args)} })`;
    case 'declareQueue':
      return `await ${channel}.declareQueue('${step.name}', { ${flags(step.flags)}arguments: ${withArguments(step.args)} })`;
    case 'bindQueue':
    case 'unbindQueue':
    case 'bindExchange':
    case 'unbindExchange':
      return `await ${channel}.${step.do}('${step.to}', '${step.from}', '${step.key}', ${withArguments(step.args)})`;
    case 'deleteExchange':
    case 'deleteQueue':
      return `await ${channel}.${step.do}('${step.name}', { ${flags(step.flags)} })`;
    case 'purge':
      return `await ${channel}.purgeQueue('${step.name}')`;
    case 'publish':
      return step.bodies
        .map(
          (body) =>
            `await ${channel}.publish('${step.exchange}', '${step.key}', { body: '${body}', mandatory: ${step.mandatory}, properties: ${properties(step.sent)} })`,
        )
        .join('; ');
    case 'get':
      return `const ${step.as} = await ${channel}.get('${step.queue}', { noAck: ${step.noAck} })`;
    case 'consume':
      return `${step.prefetch === undefined ? '' : `await ${channel}.qos(${step.prefetch}); `}const ${step.as} = await ${channel}.consume('${step.queue}', { tag: '${step.as}', noAck: ${step.noAck}, arguments: ${withArguments(step.args)} })`;
    case 'cancel':
      return `await ${channel}.cancel('${step.consumer}')`;
    case 'settle':
      return settlement(step, channel);
    case 'recover':
      return `await ${channel}.recover(true)`;
    case 'close':
      return `await ${channel}.close()`;
    case 'qos':
      return `await ${channel}.qos(${step.prefetch}, { global: ${step.global} })`;
    case 'confirmSelect':
    case 'txSelect':
    case 'txCommit':
    case 'txRollback':
      return `await ${channel}.${step.do}()`;
  }
}

function settlement({ how, multiple, requeue, delivery }: Extract<Step, { do: 'settle' }>, channel: string): string {
  const tag = delivery.of.startsWith('g')
    ? `${delivery.of}?.deliveryTag ?? 0`
    : `${delivery.of}.messages[${delivery.nth}]?.deliveryTag ?? 0`;
  if (how === 'ack') return `await ${channel}.ack(${tag}, ${multiple})`;
  if (how === 'reject') return `await ${channel}.reject(${tag}, ${requeue})`;
  return `await ${channel}.nack(${tag}, { multiple: ${multiple}, requeue: ${requeue} })`;
}

const plain = (values: Values): Record<string, Value> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, isUnits(value) ? value.units * unit : value]),
  );

function properties({ expiration, headers, ...others }: Sent): string {
  const parts = Object.entries(others).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  if (expiration !== undefined) parts.push(`expiration: '${expiration.units * unit}'`);
  if (headers !== undefined) parts.push(`headers: new Map(${JSON.stringify(Object.entries(headers), fields)})`);
  return `{ ${parts.join(', ')} }`;
}

/** Tables inside headers become lists of their entries; the reader wraps them in a Map. */
const fields = (_: string, value: unknown): unknown =>
  value instanceof Map ? [...(value as Map<string, Field>)] : value;
