import type { TopologyQueue } from '../../api/topology';
import type { PlacedNode } from '../../drawing/layout';
import { Pill } from '../../drawing/shapes';
import { sizes } from '../../drawing/sizes';
import { href } from '../../router';
import { count, shortCount } from '../../ui/format';
import { visible } from '../../ui/parts';

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
        <Pill of={of} />
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
      <title>{titleOf(of.name, queue)}</title>
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

function titleOf(name: string, queue: TopologyQueue | undefined): string {
  const { messages_ready: ready = 0, messages_unacknowledged: unacked = 0, consumers = 0 } = queue ?? {};
  return `Queue ${visible(name)}: ${count(ready)} ready, ${count(unacked)} unacknowledged, ${count(consumers)} ${consumers === 1 ? 'consumer' : 'consumers'}`;
}
