import { visible } from '../ui/parts';
import type { PlacedEdge, PlacedNode } from './layout';
import { linesOf } from './labels';
import { sizes } from './sizes';

/** The looks of edges. Each has an arrow head of its own, because a head cannot take the colour of its line everywhere. */
const looks = ['binding', 'dead', 'alternate', 'retry', 'spin', 'dropped'] as const;

const lookOf = ({ kind, loop }: PlacedEdge): (typeof looks)[number] => loop ?? kind;

/** The arrow heads. */
export function Heads() {
  return (
    <defs>
      {looks.map((look) => (
        <marker
          key={look}
          id={`head-${look}`}
          class={`head head-${look}`}
          viewBox="0 0 8 8"
          refX="7"
          refY="4"
          markerWidth="7"
          markerHeight="7"
          markerUnits="userSpaceOnUse"
          orient="auto"
        >
          <path d="M0 0.6 7.4 4 0 7.4z" />
        </marker>
      ))}
    </defs>
  );
}

/** A line with its arrow head. */
export function Edge({ of, tone }: { of: PlacedEdge; tone: string }) {
  const look = lookOf(of);
  return (
    <path
      class={`edge edge-${look} ${of.certain ? '' : 'edge-possible'} ${tone}`}
      d={of.path}
      marker-end={`url(#head-${look})`}
    />
  );
}

/** The label of an edge, one line for each reason or key. The line of the edge is not visible behind it. */
export function EdgeLabel({ of, tone }: { of: PlacedEdge; tone: string }) {
  const { at, size, label } = of;
  if (at === undefined) return null;
  const lines = linesOf(label);
  const top = at.y - size.height / 2;
  return (
    <g class={`edge-label edge-label-${lookOf(of)} ${tone}`}>
      <rect x={at.x - size.width / 2} y={top} width={size.width} height={size.height} rx="4" />
      {lines.map((line, index) => (
        <text key={index} x={at.x} y={top + sizes.line * (index + 0.8)} text-anchor="middle">
          {visible(line)}
        </text>
      ))}
    </g>
  );
}

/** The shape of a node that is no queue, with its names as text nodes, inside a group of the class `node`. */
export function Pill({ of }: { of: PlacedNode }) {
  const [left, top] = [of.x - of.width / 2, of.y - of.height / 2];
  return (
    <>
      <title>{pillTitle(of)}</title>
      <rect x={left} y={top} width={of.width} height={of.height} rx={of.kind === 'any' ? 8 : of.height / 2} />
      <text x={left + 17} y={of.y + 4.5}>
        {of.name === '' ? '(default)' : visible(of.text)}
      </text>
      <text class="node-more" x={left + of.width - 15} y={of.y + 4} text-anchor="end">
        {of.kind === 'missing' ? 'does not exist' : visible(of.type)}
      </text>
    </>
  );
}

function pillTitle({ kind, name, type }: PlacedNode): string {
  const shown = name === '' ? 'default exchange' : visible(name);
  if (kind === 'any') return 'The default exchange returns each message to the queue that its routing key names';
  if (kind === 'missing') return `Exchange ${shown} does not exist: messages sent there are dropped`;
  return `Exchange ${shown} (${visible(type)})`;
}
