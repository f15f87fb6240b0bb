import type { TopologyQueue } from '../../api/topology';
import { href } from '../../router';
import { count, shortCount } from '../../ui/format';
import { visible } from '../../ui/parts';
import type { PlacedEdge, PlacedNode } from './layout';
import { linesOf } from './labels';
import { sizes } from './sizes';

/** The looks of edges. Each has an arrow head of its own, because a head cannot take the colour of its line everywhere. */
const looks = ['binding', 'dead', 'alternate', 'retry', 'spin', 'dropped'] as const;

export const lookOf = ({ kind, loop }: PlacedEdge): (typeof looks)[number] => loop ?? kind;

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

/** A queue as a link to its page, or an exchange. Names are text nodes. */
export function Node(props: {
  of: PlacedNode;
  vhost: string;
  queue: TopologyQueue | undefined;
  isChosen: boolean;
  /** True for a queue that dead letters reach to stay. */
  isDead: boolean;
  tone: string;
  /** What the edges say, for screen readers. */
  ways: string;
  point: (id: string | undefined) => void;
}) {
  const { of, vhost, queue, isChosen, isDead, tone, ways, point } = props;
  const left = of.x - of.width / 2;
  const top = of.y - of.height / 2;
  const hover = { onPointerEnter: () => point(of.id), onPointerLeave: () => point(undefined) };
  if (of.kind !== 'queue') {
    return (
      <g class={`node node-${of.kind} ${tone}`} {...hover}>
        <title>{titleOf(of)}</title>
        <rect x={left} y={top} width={of.width} height={of.height} rx={of.kind === 'any' ? 8 : of.height / 2} />
        <text x={left + 17} y={of.y + 4.5}>
          {of.name === '' ? '(default)' : visible(of.text)}
        </text>
        <text class="node-more" x={left + of.width - 15} y={of.y + 4} text-anchor="end">
          {of.kind === 'missing' ? 'does not exist' : visible(of.type)}
        </text>
      </g>
    );
  }
  const ready = queue?.messages_ready ?? 0;
  const look = `node node-queue ${isDead ? 'node-dead' : ''} ${ready > 0 ? 'node-filled' : ''} ${isChosen ? 'chosen' : ''}`;
  return (
    <a
      href={href(['queues', vhost, of.name])}
      class={`${look} ${tone}`}
      data-row={of.id}
      data-node={of.id}
      onFocus={() => point(of.id)}
      onBlur={() => point(undefined)}
      {...hover}
    >
      <title>{titleOf(of, queue)}</title>
      {ways !== '' && <desc>{ways}</desc>}
      <rect x={left} y={top} width={of.width} height={of.height} rx="8" />
      <text x={left + 14} y={of.y + 4.5}>
        {visible(of.text)}
      </text>
      <rect
        class="badge"
        x={left + of.width - sizes.badge - 5}
        y={top + 6}
        width={sizes.badge}
        height={of.height - 12}
        rx="6"
      />
      <text class="badge-text" x={left + of.width - sizes.badge / 2 - 5} y={of.y + 4} text-anchor="middle">
        {shortCount(ready)}
      </text>
    </a>
  );
}

function titleOf({ kind, name, type }: PlacedNode, queue?: TopologyQueue): string {
  const shown = name === '' ? 'default exchange' : visible(name);
  if (kind === 'any') return 'The default exchange returns each message to the queue that its routing key names';
  if (kind === 'missing') return `Exchange ${shown} does not exist: messages sent there are dropped`;
  if (kind === 'exchange') return `Exchange ${shown} (${visible(type)})`;
  const { messages_ready: ready = 0, messages_unacknowledged: unacked = 0, consumers = 0 } = queue ?? {};
  return `Queue ${shown}: ${count(ready)} ready, ${count(unacked)} unacknowledged, ${count(consumers)} ${consumers === 1 ? 'consumer' : 'consumers'}`;
}
