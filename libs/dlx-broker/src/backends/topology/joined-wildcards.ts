import type { BindingDeclaration, Topology } from './topology.js';
import { typeOfPredeclared } from './unreceived-dead-letters.js';

/** A binding of a topic exchange, and a word of its key in which a wildcard is an ordinary character. */
export interface JoinedWildcard {
  readonly binding: BindingDeclaration;
  readonly word: string;
}

/**
 * Finds bindings of topic exchanges with a wildcard beside other characters: `order*`, `order.**`. It is a wildcard only as a word of its
 * own (rule P7). Patterns that are the JSON text of an object are skipped. A binding is found once, with the first such word.
 */
export function joinedWildcards({ bindings, exchanges }: Topology): readonly JoinedWildcard[] {
  const types = new Map<string | undefined, string>(typeOfPredeclared);
  for (const { name, type } of exchanges) types.set(name, type);
  return bindings
    .filter(({ source, routingKey }) => types.get(source) === 'topic' && !routingKey.startsWith('{'))
    .flatMap((binding) => {
      const word = binding.routingKey.split('.').find((each) => each.length > 1 && /[*#]/.test(each));
      return word === undefined ? [] : [{ binding, word }];
    });
}
