import { Graph as Layered, layout } from '@dagrejs/dagre';
import { curve, selfLoop } from './curve';
import type { Graph, GraphEdge, GraphNode } from './graph';
import { linesOf, short } from './labels';
import { sizes } from './sizes';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A node in its place: its centre and its size. `text` is its name, shortened. */
export interface PlacedNode extends GraphNode, Point {
  readonly text: string;
  readonly width: number;
  readonly height: number;
}

/** An edge with its line, and the centre and the size of its label. */
export interface PlacedEdge extends GraphEdge {
  readonly path: string;
  readonly at: Point | undefined;
  readonly size: { readonly width: number; readonly height: number };
}

export interface Placed {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly width: number;
  readonly height: number;
}

/** A box of the layout; its centre is known when the layout is done. */
export interface Box {
  readonly width: number;
  readonly height: number;
  readonly x?: number;
  readonly y?: number;
}

/**
 * Places nodes from left to right in the direction of messages, and routes edges around them.
 * @param boxOf the size of a node. Default: one line of text
 */
export function place(graph: Graph, boxOf: (node: GraphNode) => Box = lineOf): Placed {
  const layered = new Layered<object, Box, object>({
    multigraph: true,
  });
  layered.setGraph({ rankdir: 'LR', nodesep: 16, ranksep: 44, edgesep: 12, marginx: 16, marginy: 16 });
  for (const node of graph.nodes) layered.setNode(node.id, { ...boxOf(node) });
  for (const { id, from, to, label } of graph.edges) {
    layered.setEdge(from, to, { ...labelSize(label), labelpos: 'c' }, id);
  }
  layout(layered);
  const { width = 0, height = 0 } = layered.graph() as { width?: number; height?: number };
  return {
    width,
    height,
    nodes: graph.nodes.map((node) => {
      const { x = 0, y = 0, width: w, height: h } = layered.node(node.id);
      return { ...node, text: short(node.name, sizes.most), x, y, width: w, height: h };
    }),
    edges: graph.edges.map((edge) => {
      const { points, x, y } = layered.edge(edge.from, edge.to, edge.id) as {
        points: readonly Point[];
        x?: number;
        y?: number;
      };
      const size = labelSize(edge.label);
      if (edge.from === edge.to) {
        const { x: cx = 0, y: cy = 0, width: w, height: h } = layered.node(edge.from);
        const at = { x: cx, y: cy + h / 2 + 22 + size.height / 2 };
        return { ...edge, size, at, path: selfLoop({ x: cx, y: cy, width: w, height: h }) };
      }
      const ends = [layered.node(edge.from), layered.node(edge.to)] as const;
      const at = edge.label === '' || x === undefined || y === undefined ? undefined : { x, y };
      return { ...edge, size, at, path: curve(betweenSides(points, ends[0], ends[1])) };
    }),
  };
}

/** The bends of an edge, from the middle of a side of one box to the middle of the facing side of the other. */
function betweenSides(bends: readonly Point[], from: Box, to: Box): readonly Point[] {
  const [first, last] = [from.x ?? 0, to.x ?? 0];
  const side = last < first ? -1 : 1;
  // Ways back keep clear of the heads and beginnings of the ways forth.
  const up = last < first ? 8 : 0;
  const begin = { x: first + (side * from.width) / 2, y: (from.y ?? 0) - up };
  const end = { x: last - (side * to.width) / 2, y: (to.y ?? 0) - up };
  return [begin, ...bends.slice(1, -1), end];
}

/** The room of a label. */
export function labelSize(label: string): { readonly width: number; readonly height: number } {
  const lines = linesOf(label);
  if (lines.length === 0) return { width: 0, height: 0 };
  const longest = Math.max(...lines.map((line) => [...line].length));
  return { width: Math.round(longest * sizes.label + 8), height: lines.length * sizes.line + 2 };
}

/** The box of a node with one line of text. */
export const lineOf = (node: GraphNode): Box => ({ width: widthOf(node), height: sizes.height });

function widthOf({ kind, name, type }: GraphNode): number {
  const text = Math.min(name === '' ? 9 : [...name].length, sizes.most) * sizes.character;
  if (kind === 'queue') return Math.round(text + 28 + sizes.badge);
  if (kind === 'exchange') return Math.round(text + 34 + type.length * sizes.type + 8);
  if (kind === 'missing') return Math.round(text + 34 + 'does not exist'.length * sizes.type + 8);
  return Math.round(text + 28);
}
