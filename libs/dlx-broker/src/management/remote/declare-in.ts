import { type Added, type Broker, restoreTopology } from '../../broker/index.js';
import { emptyTable, type FieldTable } from '../../message/index.js';

/** An object of a server that has arguments. */
export type Declarable = Extract<Added, { readonly kind: 'exchange' | 'queue' | 'binding' }>;

/** The most arguments that are left out one after the other, to find the one that the engine does not know. */
const mostTried = 32;

/**
 * Declares an object in a mirror as the server has it. A server of a later release, or with plugins, has arguments that the engine
 * refuses: then the object is declared without the one, or without any, so that the others are shown all the same.
 * @param unknown gets what was left out
 */
export function declareIn(broker: Broker, added: Declarable, unknown: string[]): void {
  if (isDeclared(broker, added)) return;
  const { arguments: args } = added.details;
  const of = `of ${added.kind} '${added.name}'`;
  // An exchange without its only argument that matters, the type by which it routes, would be another one.
  const tried = added.kind === 'exchange' || args.size > mostTried ? [] : [...args.keys()];
  for (const name of tried) {
    const others = new Map(args);
    others.delete(name);
    if (!isDeclared(broker, withArguments(added, others))) continue;
    unknown.push(`argument '${name}' ${of}`);
    return;
  }
  unknown.push(
    isDeclared(broker, withArguments(added, emptyTable)) ? `arguments ${of}` : `${added.kind} '${added.name}'`,
  );
}

function isDeclared(broker: Broker, added: Declarable): boolean {
  try {
    restoreTopology(broker, [added]);
    return true;
  } catch {
    return false;
  }
}

/** Where messages go in an exchange without its arguments is not known: the type `headers` says so of the routing key. */
function withArguments(added: Declarable, args: FieldTable): Declarable {
  switch (added.kind) {
    case 'exchange':
      return { ...added, details: { ...added.details, type: 'headers', arguments: args } };
    case 'queue':
      return { ...added, details: { ...added.details, arguments: args } };
    case 'binding':
      return { ...added, details: { ...added.details, arguments: args } };
  }
}
