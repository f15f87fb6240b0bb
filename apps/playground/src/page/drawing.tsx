import { useEffect, useMemo, useState } from 'preact/hooks';
import { type PlacedNode, place } from '../../../console/src/drawing/layout';
import { short } from '../../../console/src/drawing/labels';
import { Edge, EdgeLabel, Heads, Pill } from '../../../console/src/drawing/shapes';
import { count } from '../../../console/src/ui/format';
import { visible } from '../../../console/src/ui/parts';
import type { ConsumerState, MessageState, QueueState } from '../world/state';
import { type Choice, choice, isSame, marked } from './choice';
import { arrivalKey, type Flight, flightsOf } from './flights';
import { boxOf, card, consumerId, pictureOf, rowsOf } from './graph';
import { differing, expected, latest, otherProfile, setup, view } from './session';
import { briefly } from './texts';

/** Room at the left, where messages come from publishers. */
const margin = 34;

/** The topology with its messages, as it is at the moment that is shown. */
export function Drawing() {
  const { state } = view.value;
  const present = new Set(state.consumers.map(({ name }) => name));
  const absent = expected.value.filter(({ name }) => !present.has(name));
  const unseen = new Set(absent.map(({ name }) => consumerId(name)));
  const graph = pictureOf({ ...state, consumers: [...state.consumers, ...absent] });
  const shape = JSON.stringify([graph.nodes, graph.edges]);
  const placed = useMemo(() => place(graph, boxOf), [shape]);
  const { flights, arrivals } = useMemo(() => flightsOf(latest.value, placed), [latest.value]);
  const near = marked.value;
  const edges = placed.edges.filter(({ to }) => !unseen.has(to));
  const tone = (id: string): string => (near.has(id) ? 'near' : '');
  const { width, height } = placed;
  if (graph.nodes.length === 0) return <p class="notice">Nothing is declared. Write a topology, and open it.</p>;
  return (
    <div class="canvas" role="region" aria-label="The topology. It scrolls." tabIndex={0}>
      <svg
        viewBox={`${-margin} 0 ${width + 2 * margin} ${height + 10}`}
        class={near.size > 0 ? 'has-pointed' : ''}
        style={{ width: `${(width + 2 * margin) * 1.1}px`, minWidth: `${width * 0.72}px` }}
      >
        <Heads />
        {edges.map((edge) => (
          <Edge key={edge.id} of={edge} tone={tone(edge.id)} />
        ))}
        <Dots flights={flights} />
        {edges.map((edge) => (
          <EdgeLabel key={edge.id} of={edge} tone={tone(edge.id)} />
        ))}
        {placed.nodes.map((node) => {
          if (unseen.has(node.id)) return null;
          const delay = (copy: number): number | undefined => arrivals.get(arrivalKey(node.id, copy));
          const queue = state.queues.find(({ name }) => node.kind === 'queue' && name === node.name);
          const consumer = state.consumers.find(({ name }) => node.kind === 'consumer' && name === node.name);
          if (queue !== undefined)
            return <Queue key={node.id} at={node} of={queue} tone={tone(node.id)} delay={delay} />;
          if (consumer !== undefined)
            return <Consumer key={node.id} at={node} of={consumer} tone={tone(node.id)} delay={delay} />;
          return (
            <g key={node.id} class={`node node-${node.kind} ${tone(node.id)}`}>
              <Pill of={node} />
              {node.kind === 'exchange' && (
                <Chooser
                  of={{ kind: 'exchange', name: node.name }}
                  label={`Exchange ${visible(node.name)}, ${visible(node.type)}`}
                  area={areaOf(node, node.height, node.height / 2)}
                />
              )}
            </g>
          );
        })}
      </svg>
    </div>
  );
}

const areaOf = (at: PlacedNode, height: number, rx: number): Area => ({
  x: at.x - at.width / 2,
  y: at.y - at.height / 2,
  width: at.width,
  height,
  rx,
});

interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly rx: number;
}

/** Where a part of the drawing can be chosen, by pointer and key. It has the name for screen readers: the texts below it have none. */
function Chooser({ of, label, area }: { of: Choice; label: string; area: Area }) {
  const choose = (): void => void (choice.value = of);
  return (
    <rect
      {...area}
      role="button"
      tabindex={0}
      class={isSame(choice.value, of) ? 'chooser chosen' : 'chooser'}
      aria-label={label}
      aria-pressed={isSame(choice.value, of)}
      onClick={choose}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        choose();
      }}
    />
  );
}

type Delay = (copy: number) => number | undefined;

function Queue({ at, of, tone, delay }: { at: PlacedNode; of: QueueState; tone: string; delay: Delay }) {
  const { name, length, unacked, retained, messages } = of;
  const facts = [
    of.type === 'classic' ? '' : of.type,
    of.messageTtl === undefined ? '' : `TTL ${briefly(of.messageTtl)}`,
    of.maxLength === undefined ? '' : `max ${count(of.maxLength)}`,
    of.deliveryLimit === undefined ? '' : `limit ${of.deliveryLimit}`,
    of.policy === undefined ? '' : `policy ${visible(of.policy)}`,
    retained === 0 ? '' : `${retained} kept`,
  ].filter((fact) => fact !== '');
  const counted = `${count(length)} ready, ${count(unacked)} unacknowledged`;
  return (
    <Card
      at={at}
      of={{ kind: 'queue', name }}
      tone={tone}
      label={`Queue ${visible(name)}: ${counted}${facts.length === 0 ? '' : `. ${facts.join(', ')}`}`}
      facts={facts.join(' · ') || 'classic'}
      messages={messages}
      total={length}
      delay={delay}
    />
  );
}

function Consumer({ at, of, tone, delay }: { at: PlacedNode; of: ConsumerState; tone: string; delay: Delay }) {
  const { name, held, prefetch } = of;
  const facts = name === 'get' ? 'basic.get' : prefetch === 0 ? 'consumer' : `consumer · prefetch ${prefetch}`;
  return (
    <Card
      at={at}
      of={{ kind: 'consumer', name }}
      tone={tone}
      label={`Consumer ${visible(name)} holds ${count(held.length)}`}
      facts={facts}
      messages={held}
      total={held.length}
      delay={delay}
    />
  );
}

/** A queue or a consumer with its messages, the head first. */
function Card(props: {
  at: PlacedNode;
  of: Choice;
  tone: string;
  label: string;
  facts: string;
  messages: readonly MessageState[];
  total: number;
  delay: Delay;
}) {
  const { at, of, tone, label, facts, messages, total, delay } = props;
  const [left, top] = [at.x - at.width / 2, at.y - at.height / 2];
  const other = differing.value.get(at.kind === 'queue' ? at.name : `${at.name} holds`);
  const rows = rowsOf(at.kind);
  const seen = messages.slice(0, total > rows && rows > 1 ? rows - 1 : rows);
  return (
    <g class={`node node-${of.kind} ${tone} ${total > 0 ? 'node-filled' : ''} ${other === undefined ? '' : 'differs'}`}>
      <rect x={left} y={top} width={at.width} height={at.height} rx="9" />
      <text x={left + 12} y={top + 20} aria-hidden="true">
        {visible(at.text)}
      </text>
      <text class="badge-text" x={left + at.width - 12} y={top + 20} text-anchor="end" aria-hidden="true">
        {count(total)}
      </text>
      <text class="node-more" x={left + 12} y={top + 36} aria-hidden="true">
        {short(facts, 28)}
      </text>
      <Chooser of={of} label={label} area={areaOf(at, card.head, 9)} />
      {seen.map((message, row) => (
        <Row
          key={message.copy}
          of={message}
          x={left + 6}
          y={top + card.head + row * card.row}
          width={at.width - 12}
          delay={delay(message.copy)}
        />
      ))}
      {total > seen.length && rows > 1 && (
        <text class="node-more" x={left + 14} y={top + card.head + (rows - 0.32) * card.row}>
          and {count(total - seen.length)} more
        </text>
      )}
      {other !== undefined && (
        <text class="other-version" x={at.x} y={at.y + at.height / 2 + 14} text-anchor="middle">
          on {otherProfile(setup.value)}: {other.length === 0 ? 'empty' : visible(short(other.join(', '), 30))}
        </text>
      )}
    </g>
  );
}

/** A message in a queue or at a consumer. Its bar is the time that it still has. */
function Row(props: { of: MessageState; x: number; y: number; width: number; delay: number | undefined }) {
  const { of, x, y, width, delay } = props;
  const { id, copy, body, deaths, expiresIn } = of;
  const height = card.row - 3;
  const [first = delay] = useState(delay);
  const name = body === '' ? `#${id}` : body;
  const reason = deaths[0]?.reason ?? 'alive';
  const died =
    deaths.length === 0 ? '' : `, died of ${deaths.map((death) => `${death.reason} in ${death.queue}`).join(', ')}`;
  const rest = expiresIn === undefined ? '' : expiresIn === 0 ? 'expired' : briefly(expiresIn);
  const ends = rest === '' ? '' : expiresIn === 0 ? ', expired behind others' : `, expires in ${rest}`;
  return (
    <g
      class={`message ${first === undefined ? '' : 'arriving'}`}
      style={first === undefined ? {} : { animationDelay: `${first}ms` }}
    >
      <rect class="message-room" x={x} y={y} width={width} height={height} rx="5" />
      {expiresIn !== undefined && (
        <rect
          class="message-rest"
          x={x}
          y={y}
          width={width * Math.min(1, expiresIn / lifeOf(of))}
          height={height}
          rx="5"
        />
      )}
      <circle class={`of-${reason}`} cx={x + 11} cy={y + 9.5} r="4" />
      <text x={x + 22} y={y + 13.5} aria-hidden="true">
        {visible(short(name, Math.floor((width - 26) / 7.3) - rest.length))}
      </text>
      {rest !== '' && (
        <text class="node-more" x={x + width - 7} y={y + 13.5} text-anchor="end" aria-hidden="true">
          {rest}
        </text>
      )}
      <Chooser
        of={{ kind: 'message', id, copy }}
        label={`Message ${visible(short(name, 60))}${died}${ends}`}
        area={{ x, y, width, height, rx: 5 }}
      />
    </g>
  );
}

/** How long a message lives in its queue from its arrival: a smaller TTL of its own, or that of the queue. */
function lifeOf({ queue, properties: { expiration } }: MessageState): number {
  const ofQueue = view.value.state.queues.find(({ name }) => name === queue)?.messageTtl ?? Infinity;
  return Math.max(1, Math.min(ofQueue, expiration === undefined ? Infinity : Number(expiration)));
}

/** The moving dots. Each goes when it has arrived. */
function Dots({ flights }: { flights: readonly Flight[] }) {
  const [flying, setFlying] = useState<readonly Flight[]>([]);
  useEffect(() => {
    if (flights.length > 0 && !matchMedia('(prefers-reduced-motion: reduce)').matches)
      setFlying((before) => [...before, ...flights].slice(-80));
  }, [flights]);
  const end = (flight: Flight): void => setFlying((before) => before.filter((each) => each !== flight));
  return (
    <g class="dots" aria-hidden="true">
      {flying.map((flight) => (
        <Dot key={flight.key} of={flight} end={() => end(flight)} />
      ))}
    </g>
  );
}

function Dot({ of, end }: { of: Flight; end: () => void }) {
  const [element, setElement] = useState<SVGCircleElement | null>(null);
  useEffect(() => {
    if (element === null) return undefined;
    const { delay, duration, look } = of;
    element.style.offsetPath = `path("${of.path}")`;
    const away = look === 'lost' || look === 'acked';
    const moving = element.animate(
      {
        offsetDistance: ['0%', '100%'],
        opacity: away ? [1, 1, 0] : [0.2, 1, 1],
      },
      { delay, duration, easing: 'cubic-bezier(.45,.05,.4,1)', fill: 'both' },
    );
    moving.onfinish = end;
    return () => moving.cancel();
  }, [element]);
  return <circle ref={setElement} class={`dot of-${of.look}`} r="5.5" />;
}
