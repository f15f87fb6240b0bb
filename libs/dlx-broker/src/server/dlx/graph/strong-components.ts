/** A directed graph: the successors of a node. */
type Successors<Node> = (node: Node) => Iterable<Node>;

/** A node on the way of the search, and its successors that are not visited yet. */
interface Step<Node> {
  readonly node: Node;
  readonly rest: Iterator<Node>;
}

/**
 * Finds the sets of nodes that can all be reached from one another: Tarjan's strongly connected components, without those of
 * a single node that has no edge to itself. It does not recurse, and yields after each step.
 */
export function* strongComponents<Node>(
  nodes: Iterable<Node>,
  successors: Successors<Node>,
): Generator<void, readonly ReadonlySet<Node>[], void> {
  const components: Set<Node>[] = [];
  const indexes = new Map<Node, number>();
  /** The smallest index that is known to be reachable from a node. */
  const lowest = new Map<Node, number>();
  /** Visited nodes whose component is not complete. */
  const open: Node[] = [];
  const isOpen = new Set<Node>();
  const visit = (node: Node): Step<Node> => {
    indexes.set(node, indexes.size);
    lowest.set(node, indexes.get(node) as number);
    open.push(node);
    isOpen.add(node);
    return { node, rest: successors(node)[Symbol.iterator]() };
  };
  const lower = (node: Node, to: number): void => {
    if (to < (lowest.get(node) as number)) lowest.set(node, to);
  };
  for (const root of nodes) {
    if (indexes.has(root)) continue;
    const way = [visit(root)];
    for (let step = way.at(-1); step !== undefined; step = way.at(-1)) {
      yield;
      const { node } = step;
      const { value: next, done } = step.rest.next();
      if (done !== true) {
        if (!indexes.has(next)) way.push(visit(next));
        else if (isOpen.has(next)) lower(node, indexes.get(next) as number);
        continue;
      }
      way.pop();
      const low = lowest.get(node) as number;
      const before = way.at(-1);
      if (before !== undefined) lower(before.node, low);
      if (low !== indexes.get(node)) continue;
      const component = new Set(open.splice(open.lastIndexOf(node)));
      for (const each of component) isOpen.delete(each);
      if (component.size > 1 || [...successors(node)].includes(node)) components.push(component);
    }
  }
  return components;
}
