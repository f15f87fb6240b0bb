import type { Field, FieldTable } from '../../../engine/message/index.js';
import type { ExchangeDeclaration, QueueDeclaration } from '../../topology/index.js';
import type { TopologyDifference } from '../../errors.js';
import { codeOf, textOf } from './calls.js';
import { type Compared, shownField } from './compare.js';
import { byName, explained } from './explain.js';
import { existingField, type Mismatch, mismatchIn, shownExisting } from './mismatch.js';

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
