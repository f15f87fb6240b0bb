import type { Field, FieldTable } from '../../../engine/message/index.js';
import { shownText } from '../../../platform/index.js';
import { ServerError, type TopologyDifference, TopologyError } from '../../errors.js';
import type { ExchangeDeclaration, QueueDeclaration } from '../../topology/index.js';
import { codeOf, textOf } from './calls.js';
import type { ExistingExchange, ExistingQueue } from './existing.js';

/** The place of a declaration, behind the name of what is declared. */
export const byName = (origin: string | undefined): string => (origin === undefined ? '' : ` (${origin})`);

/** What helps against a reply code and its text. */
export type Hint = (code: number, text: string) => string | undefined;

const rightHint: Hint = (code) =>
  code === 403
    ? "give the user of rabbitmq() the right to configure it, or declare it by other means and set option 'declare' to false"
    : undefined;

/** An error of the server as a TopologyError; one of the connection as it is. @param what with the place of its declaration */
export function explained(what: string, error: unknown, hint: Hint = () => undefined): unknown {
  const code = codeOf(error);
  if (code === undefined || code === 541 || code === 506) return error;
  const text = shownText(textOf(error));
  const cause = new ServerError(text, code, { cause: error });
  const advice = hint(code, text) ?? rightHint(code, text);
  return new TopologyError(`cannot declare ${what}: ${text}${advice === undefined ? '' : `; ${advice}`}`, [], {
    cause,
  });
}

/** A comparison of what was asked with a queue or an exchange that exists. */
interface Compared<T> {
  readonly differences: readonly TopologyDifference[];
  /** True if arguments differ where that is allowed. */
  readonly mayDiffer: boolean;
  /** A declaration that is equal to what exists. */
  readonly asItIs: T;
}

type Pair = readonly [property: string, existing: string, asked: string];

/** Compares all properties and arguments of a queue at once. */
export function comparedQueue(asked: QueueDeclaration, existing: ExistingQueue): Compared<QueueDeclaration> {
  const { name, origin, mayDiffer = [] } = asked;
  const pairs: readonly Pair[] = [
    ['durable', String(existing.durable), String(asked.durable)],
    ['exclusive', String(existing.exclusive), String(asked.exclusive)],
    ['auto-delete', String(existing.autoDelete), String(asked.autoDelete)],
    ...argumentPairs(existing.arguments, asked.arguments),
  ];
  const found = pairs.filter(differs);
  return {
    differences: found
      .filter(([property]) => !mayDiffer.includes(property))
      .map(([property, there, wanted]) => ({ kind: 'queue', name, origin, property, existing: there, asked: wanted })),
    mayDiffer: found.some(([property]) => mayDiffer.includes(property)),
    asItIs: { ...asked, ...existing },
  };
}

/** Compares an exchange. Of its arguments only the alternate exchange counts for a server. */
export function comparedExchange(
  asked: ExchangeDeclaration,
  existing: ExistingExchange,
): Compared<ExchangeDeclaration> {
  const { name, origin } = asked;
  const pairs: readonly Pair[] = [
    ['type', existing.type, asked.type],
    ['durable', String(existing.durable), String(asked.durable)],
    ['auto-delete', String(existing.autoDelete), String(asked.autoDelete)],
    ['internal', String(existing.internal), String(asked.internal)],
    ...argumentPairs(existing.arguments, asked.arguments).filter(([property]) => property === 'alternate-exchange'),
  ];
  const differences = pairs.filter(differs).map(([property, there, wanted]) => {
    return { kind: 'exchange', name, origin, property, existing: there, asked: wanted } as const;
  });
  return { differences, mayDiffer: false, asItIs: { ...asked, ...existing } };
}

const differs = ([, existing, asked]: Pair): boolean => existing !== asked;

/**
 * An existing queue without a type is a classic one. A declaration without a type asks for the default of the virtual host, which only
 * the server knows.
 */
const argumentPairs = (existing: FieldTable, asked: FieldTable): readonly Pair[] =>
  [...new Set([...asked.keys(), ...existing.keys()])]
    .map((name): Pair => [name, shownField(existing.get(name)), shownField(asked.get(name))])
    .filter(
      ([name, one, other]) =>
        name !== 'x-queue-type' || (other !== 'none' && (one === 'none' ? "'classic'" : one) !== other),
    );

/** An argument as errors show it: texts in quotes. Integers of all widths look alike, as they are to a server. */
const shownField = (field: Field | undefined): string =>
  field === undefined ? 'none' : field.type === 'S' ? `'${field.value}'` : String(field.value);

/** The most commands for one queue or exchange, besides one for each argument and each flag. */
const extraRounds = 3;

/** What is declared: a queue or an exchange. */
type Declaration = QueueDeclaration | ExchangeDeclaration;

/** How a kind of object is declared and looked at. */
export interface Comparing<T> {
  readonly kind: TopologyDifference['kind'];
  /** Rejects with the error of the server. */
  declare(declaration: T): Promise<unknown>;
  /** Compares by the management API; undefined without one, and if that fails. */
  existing(): Promise<Compared<T> | undefined>;
}

/**
 * Compares an existing object by the management API, if there is one. Without it the server names one property at a time: each is
 * adopted, and the object declared again until it is equal.
 * @throws TopologyError, or the error of the connection
 */
export async function compareExisting<T extends Declaration>(asked: T, how: Comparing<T>): Promise<Compared<T>> {
  const { name, origin } = asked;
  const { kind } = how;
  const allowed = 'mayDiffer' in asked ? (asked.mayDiffer ?? []) : [];
  const differences: TopologyDifference[] = [];
  let mayDiffer = false;
  let tried = asked;
  const most = asked.arguments.size + Object.keys(flags).length + extraRounds;
  for (let round = 0; round < most; round++) {
    const mismatch = await refusal(`${kind} '${name}'${byName(origin)}`, () => how.declare(tried));
    if (mismatch === undefined) break;
    const compared = round === 0 ? await how.existing() : undefined;
    if (compared !== undefined && (compared.mayDiffer || compared.differences.length > 0)) return compared;
    if (allowed.includes(mismatch.property)) mayDiffer = true;
    else differences.push(difference({ kind, name, origin }, asked, mismatch));
    tried = adopt(tried, mismatch);
  }
  return { differences, mayDiffer, asItIs: tried };
}

/** The server's reason for refusing the declaration of an existing object; undefined if the object is equal. */
async function refusal(what: string, declare: () => Promise<unknown>): Promise<Mismatch | undefined> {
  try {
    await declare();
    return undefined;
  } catch (error) {
    const mismatch = codeOf(error) === 406 ? mismatchIn(textOf(error)) : undefined;
    if (mismatch === undefined) throw explained(what, error);
    return mismatch;
  }
}

type Flags = Pick<QueueDeclaration, 'durable' | 'autoDelete'> & Partial<ExchangeDeclaration>;

/** The properties of a declaration, by RabbitMQ's names. */
const flags: Readonly<Record<string, 'durable' | 'autoDelete' | 'internal'>> = {
  durable: 'durable',
  auto_delete: 'autoDelete',
  internal: 'internal',
};
const shownNames: Readonly<Record<string, string>> = { auto_delete: 'auto-delete' };

/** A declaration with the existing value in the place of what was asked for. */
function adopt<T extends Flags & { readonly arguments: FieldTable }>(declaration: T, mismatch: Mismatch): T {
  const { property, existing } = mismatch;
  const flag = flags[property];
  if (flag !== undefined) return { ...declaration, [flag]: existing === 'true' };
  if (property === 'type') return { ...declaration, type: existing };
  const args = new Map<string, Field>(declaration.arguments);
  const field = existingField(mismatch, args.get(property));
  if (field === undefined) args.delete(property);
  else args.set(property, field);
  return { ...declaration, arguments: args };
}

function difference(
  about: Pick<TopologyDifference, 'kind' | 'name' | 'origin'>,
  asked: Flags & { readonly arguments: FieldTable },
  mismatch: Mismatch,
): TopologyDifference {
  const { property } = mismatch;
  const flag = flags[property];
  const field = asked.arguments.get(property);
  const value = flag === undefined ? (property === 'type' ? asked.type : field) : asked[flag];
  const isField = flag === undefined && property !== 'type';
  const shown = isField ? shownField(field) : String(value);
  const existing = isField ? shownExisting(mismatch, field) : (mismatch.existing ?? 'none');
  return { ...about, property: shownNames[property] ?? property, existing, asked: shown };
}

/** The difference between a declaration and an existing object, as the text of a 406 names it. */
interface Mismatch {
  /** `durable`, `type` or an argument such as `x-message-ttl`. */
  readonly property: string;
  /** The existing value as text; undefined: it is not set. */
  readonly existing: string | undefined;
  /** RabbitMQ's name of its type, where the text has it: `longstr`, `signedint` ... */
  readonly type: string | undefined;
}

/**
 * Reads `inequivalent arg 'N' for queue 'Q' in vhost 'V': received '6' but current is '5'`, and `invalid arg 'N' ... of
 * queue type ...`, which says that the existing queue cannot have the argument. The end is read from the last
 * ` but current is `, because a value may hold quotes.
 * @returns undefined for another text
 */
export function mismatchIn(text: string): Mismatch | undefined {
  const property = /^(?:PRECONDITION_FAILED - )?(?:inequivalent|invalid) arg '([^']*)'/.exec(text)?.[1];
  if (property === undefined) return undefined;
  const mark = ' but current is ';
  const at = text.lastIndexOf(mark);
  const end = at < 0 ? 'none' : text.slice(at + mark.length);
  const typed = /^the value '(.*)' of type '(\w+)'$/s.exec(end);
  if (typed !== null) return { property, existing: typed[1], type: typed[2] };
  return { property, existing: /^'(.*)'$/s.exec(end)?.[1], type: undefined };
}

/**
 * The existing value of an argument as a field, to declare with it.
 * @param asked the declared value, whose type is used where the server's text has none
 */
export function existingField({ existing, type }: Mismatch, asked: Field | undefined): Field | undefined {
  if (existing === undefined) return undefined;
  if (type === 'longstr' || (type === undefined && asked?.type === 'S')) return { type: 'S', value: existing };
  if (existing === 'true' || existing === 'false') return { type: 't', value: existing === 'true' };
  const number = Number(existing);
  return Number.isSafeInteger(number) ? { type: 'l', value: number } : { type: 'S', value: existing };
}

/** An existing value as errors show it: texts in quotes, all else as it is. */
export function shownExisting(mismatch: Mismatch, asked: Field | undefined): string {
  const field = existingField(mismatch, asked);
  if (field === undefined) return 'none';
  return field.type === 'S' ? `'${field.value}'` : String(field.value);
}
