import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { TopologyQueue } from '../../api/topology';
import { bind } from '../../keyboard';
import { visible } from '../../ui/parts';
import { Edge, EdgeLabel, Heads } from '../../drawing/shapes';
import { type Graph, queueId } from '../../drawing/graph';
import type { Placed } from '../../drawing/layout';
import { Node } from './node';
import { fitted, showing, usePointers, useSize, type View, zoomed } from './viewport';

/** The least scale at which all is shown at first; a larger picture begins at its left. */
const readable = 0.72;

/** The graph as a picture that can be moved and scaled by pointer, buttons and keys. */
export function Picture(props: {
  graph: Graph;
  placed: Placed;
  queues: ReadonlyMap<string, TopologyQueue>;
  /** Queues that dead letters reach to stay. */
  dead: ReadonlySet<string>;
  vhost: string;
  chosen: string;
}) {
  const { graph, placed, queues, dead, vhost, chosen } = props;
  const window = useRef<HTMLDivElement>(null);
  const size = useSize(window);
  const [view, setView] = useState<View>({ x: 0, y: 0, scale: 1 });
  const [pointed, setPointed] = useState<string>();
  const latest = useRef({ placed, size });
  latest.current = { placed, size };

  const fit = (smallest?: number): void => {
    const { placed: picture, size: room } = latest.current;
    if (room !== undefined && picture.width > 0) setView(fitted(picture, room, smallest));
  };
  const zoom = (factor: number): void => {
    const { width = 0, height = 0 } = latest.current.size ?? {};
    setView((present) => zoomed(present, factor, width / 2, height / 2));
  };
  const shift = (x: number, y: number): void =>
    setView((present) => ({ ...present, x: present.x + x, y: present.y + y }));
  const show = (id: string): void => {
    const { placed: picture, size: room } = latest.current;
    const node = picture.nodes.find((each) => each.id === id);
    if (node !== undefined && room !== undefined) setView((present) => showing(present, node, room));
  };

  const isKnown = size !== undefined;
  useEffect(() => {
    fit(readable);
    if (chosen !== '') show(queueId(chosen));
  }, [placed, isKnown]);
  useEffect(
    () =>
      bind([
        { key: '+', text: 'Larger', run: () => zoom(1.25) },
        { key: '-', text: 'Smaller', run: () => zoom(0.8) },
        { key: '0', text: 'Show all of the graph', run: () => fit() },
      ]),
    [],
  );
  const pointers = usePointers(window, setView);

  const tones = useMemo(() => tonesOf(graph, pointed), [graph, pointed]);
  const ways = useMemo(() => waysOf(graph), [graph]);
  return (
    <div class="picture">
      <div
        ref={window}
        class="picture-window"
        role="region"
        aria-label="Graph of the topology. Arrow keys move it."
        style={{ height: heightFor(placed, size?.width) }}
        tabIndex={0}
        onKeyDown={(event) => {
          const [x, y] = arrows[event.key] ?? [0, 0];
          if ((x === 0 && y === 0) || event.target !== event.currentTarget) return;
          event.preventDefault();
          shift(x, y);
        }}
        onFocusCapture={(event) => {
          const id = event.target instanceof SVGElement ? event.target.dataset['node'] : undefined;
          if (id !== undefined) show(id);
        }}
        // The browser scrolls to a focused link by itself, and would hide the picture.
        onScroll={(event) => event.currentTarget.scrollTo(0, 0)}
        {...pointers}
      >
        <svg width="100%" height="100%" class={pointed === undefined ? '' : 'has-pointed'}>
          <Heads />
          <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
            {placed.edges.map((edge) => (
              <Edge key={edge.id} of={edge} tone={tones.edges.has(edge.id) ? 'near' : ''} />
            ))}
            {placed.edges.map((edge) => (
              <EdgeLabel key={edge.id} of={edge} tone={tones.edges.has(edge.id) ? 'near' : ''} />
            ))}
            {placed.nodes.map((node) => (
              <Node
                key={node.id}
                of={node}
                vhost={vhost}
                queue={node.kind === 'queue' ? queues.get(node.name) : undefined}
                isDead={node.kind === 'queue' && dead.has(node.name)}
                isChosen={node.kind === 'queue' && chosen !== '' && node.name === chosen}
                tone={tones.nodes.has(node.id) ? 'near' : ''}
                ways={ways.get(node.id) ?? ''}
                point={setPointed}
              />
            ))}
          </g>
        </svg>
      </div>
      <div class="picture-buttons">
        <button type="button" aria-label="Larger" title="Larger (+)" onClick={() => zoom(1.25)}>
          +
        </button>
        <button type="button" aria-label="Smaller" title="Smaller (-)" onClick={() => zoom(0.8)}>
          −
        </button>
        <button type="button" title="Show all of the graph (0)" onClick={() => fit()}>
          Fit
        </button>
      </div>
    </div>
  );
}

/** As high as the picture, but never so high that the page below is out of reach. */
function heightFor({ width, height }: Placed, room = 1_000): string {
  const scale = Math.min(1, Math.max(readable, room / width));
  return `clamp(240px, ${Math.ceil(height * scale) + 60}px, 68vh)`;
}

const arrows: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [80, 0],
  ArrowRight: [-80, 0],
  ArrowUp: [0, 80],
  ArrowDown: [0, -80],
};

/** The pointed node, its edges, and the nodes at their other ends. */
function tonesOf({ edges }: Graph, pointed: string | undefined) {
  const near = edges.filter(({ from, to }) => from === pointed || to === pointed);
  return {
    edges: new Set(near.map(({ id }) => id)),
    nodes: new Set([...(pointed === undefined ? [] : [pointed]), ...near.flatMap(({ from, to }) => [from, to])]),
  };
}

/** The edges that leave each node, as text. */
function waysOf({ edges, nodes }: Graph): ReadonlyMap<string, string> {
  const names = new Map(nodes.map((node) => [node.id, node.name === '' ? 'the default exchange' : visible(node.name)]));
  const found = new Map<string, string>();
  for (const { from, to, kind, label, loop } of edges) {
    if (kind !== 'dead') continue;
    const text = `Dead letters (${label}) go to ${names.get(to) ?? ''}${loop === undefined ? '' : `, part of a loop: ${loop}`}.`;
    found.set(from, `${found.get(from) ?? ''} ${text}`.trim());
  }
  return found;
}
