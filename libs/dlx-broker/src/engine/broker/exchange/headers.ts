import { preconditionFailed } from '../errors.js';
import { erlangTerm } from '../erlang-terms.js';
import { emptyTable, fieldTypeNames } from '../../message/index.js';
import type { Field, FieldTable, Message } from '../../message/index.js';
import { bindingIdentity } from './binding-identity.js';
import { Destinations } from './destinations.js';
import { HeaderIndex } from './header-index.js';
import type { HeaderBinding, Requirement } from './header-index.js';
import { headerKey, isStructure } from './header-values.js';
import type { Into } from './recipients.js';
import type { Binding, Router } from './router.js';

/** Matches the message's headers with the binding's arguments; the routing key is ignored (rule P8). */
export class HeadersRouter<Destination> implements Router<Destination> {
  readonly ignoresKeys = true;
  readonly #bindings = new Map<Destination, Map<string, HeaderBinding<Destination>>>();
  readonly #index = new HeaderIndex<Destination>();
  /** The destinations of `all` bindings without requirements: every message matches them. */
  readonly #always = new Destinations<Destination>();

  bind({ destination, bindingKey, arguments: args }: Binding<Destination>): void {
    const binding: HeaderBinding<Destination> = { destination, ...requirementsOf(args), slots: [] };
    let known = this.#bindings.get(destination);
    if (known === undefined) this.#bindings.set(destination, (known = new Map()));
    known.set(bindingIdentity(bindingKey, args), binding);
    if (binding.requirements.length > 0) this.#index.add(binding);
    else if (binding.all) this.#always.add(destination);
  }

  unbind({ destination, bindingKey, arguments: args }: Binding<Destination>): void {
    const known = this.#bindings.get(destination);
    const identity = bindingIdentity(bindingKey, args);
    const binding = known?.get(identity);
    if (known === undefined || binding === undefined) return;
    known.delete(identity);
    if (known.size === 0) this.#bindings.delete(destination);
    if (binding.requirements.length > 0) this.#index.remove(binding);
    else if (binding.all) this.#always.remove(destination);
  }

  route(message: Message, _routingKey: string, into: Into<Destination>): void {
    this.#always.addTo(into);
    this.#index.match(message.properties.headers ?? emptyTable, into);
  }
}

const modes: ReadonlyMap<string, { readonly all: boolean; readonly withX: boolean }> = new Map([
  ['all', { all: true, withX: false }],
  ['any', { all: false, withX: false }],
  ['all-with-x', { all: true, withX: true }],
  ['any-with-x', { all: false, withX: true }],
]);

/** Checks the arguments of a new binding to a headers exchange (rule P8). @throws 406 */
export function checkHeadersBinding(args: FieldTable): void {
  const match = args.get('x-match');
  if (match === undefined) return;
  if (match.type !== 'S') {
    const type = fieldTypeNames[match.type];
    throw preconditionFailed(`Invalid x-match field type ${type} (value ${erlangTerm(match)}); expected longstr`);
  }
  if (modes.has(match.value)) return;
  const expected = 'expected all, any, all-with-x, or any-with-x';
  throw preconditionFailed(`Invalid x-match field value ${erlangTerm(match)}; ${expected}`);
}

function requirementsOf(args: FieldTable): { all: boolean; requirements: readonly Requirement[] } {
  const { all, withX } = modeOf(args.get('x-match'));
  const requirements: Requirement[] = [];
  for (const [name, field] of args) {
    if (name === 'x-match' || (!withX && name.startsWith('x-'))) continue;
    // A void value asks only that the header is there.
    const value = field.type === 'V' ? undefined : { key: headerKey(field), structure: isStructure(field) };
    requirements.push({ name, value });
  }
  return { all, requirements };
}

const modeOf = (match: Field | undefined) =>
  modes.get(match?.type === 'S' ? match.value : 'all') ?? { all: true, withX: false };
