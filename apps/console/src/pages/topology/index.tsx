import { useEffect, useMemo, useState } from 'preact/hooks';
import { loadTopology, type Topology } from '../../api/topology';
import { useResource } from '../../api/use-resource';
import { type Address, href } from '../../router';
import { count } from '../../ui/format';
import { Name, PageHead } from '../../ui/parts';
import { Loaded, Loading, Notice } from '../../ui/states';
import { useVhosts } from '../../ui/vhosts';
import { Controls, Legend, shownBy } from './controls';
import { Facts } from './facts';
import { deadQueues, type Graph, graphOf, type Shown } from '../../drawing/graph';
import type { Placed } from '../../drawing/layout';
import { type Part, partOf } from './part';
import { Picture } from './picture';
import '../../drawing/drawing.css';
import './topology.css';

/** Milliseconds between two loads. */
const every = 5_000;

/** Exchanges and queues of a virtual host as a graph: bindings, the ways of dead letters, retry loops. */
export default function Page({ address }: { address: Address }) {
  const vhosts = useVhosts();
  const names = vhosts.data ?? [];
  const chosen = address.query.get('vhost');
  const vhost = chosen ?? (names.includes('/') ? '/' : names[0]);
  return (
    <>
      <PageHead title="Topology" />
      {vhost !== undefined ? (
        <View key={vhost} vhost={vhost} vhosts={names} address={address} />
      ) : (
        <Loaded of={vhosts} what="the virtual hosts" lines={8}>
          {() => (
            <Notice kind="forbidden" title="No permission to see a virtual host">
              <p>The topology is shown for virtual hosts in which the user has permissions.</p>
            </Notice>
          )}
        </Loaded>
      )}
    </>
  );
}

function View({ vhost, vhosts, address }: { vhost: string; vhosts: readonly string[]; address: Address }) {
  const { query } = address;
  const queue = query.get('queue') ?? '';
  const topology = useResource(`topology ${queue}`, (signal) => loadTopology(vhost, queue, signal), every);
  return (
    <>
      <Controls shown={shownBy(query)} vhost={vhost} vhosts={vhosts} queue={queue} />
      {topology.error?.status === 404 && topology.data === undefined && queue !== '' ? (
        <NoQueue vhost={vhost} queue={queue} />
      ) : (
        <Loaded of={topology} what="the topology" lines={10}>
          {(data) => <Shape topology={data} vhost={vhost} queue={queue} shown={shownBy(query)} />}
        </Loaded>
      )}
    </>
  );
}

function Shape(props: { topology: Topology; vhost: string; queue: string; shown: Shown }) {
  const { topology, vhost, queue, shown } = props;
  const { bindings, dead, alternate } = shown;
  const part = useMemo(() => partOf(topology, queue), [topology, queue]);
  const graph = useMemo(() => graphOf(part.topology, { bindings, dead, alternate }), [part, bindings, dead, alternate]);
  const queues = useMemo(() => new Map(part.topology.queues.map((each) => [each.name, each])), [part]);
  const deadNames = useMemo(() => deadQueues(topology), [topology]);
  const placed = usePlaced(graph);
  if (topology.queues.length === 0 && part.hidden === 0) {
    return (
      <Notice title="There are no queues">
        <p>
          Applications declare queues and exchanges when they connect. <a href={href([])}>Overview</a> shows how to make
          the first ones.
        </p>
      </Notice>
    );
  }
  return (
    <>
      <PartNote part={part} vhost={vhost} total={topology.total_queues ?? topology.queues.length} />
      <section class="card">
        {placed === 'failed' ? (
          <Notice kind="failed" title="The graph could not be drawn">
            <p>Its code could not be loaded. The broker may have been updated: reload the console.</p>
          </Notice>
        ) : placed === undefined ? (
          <Loading lines={8} />
        ) : graph.nodes.length === 0 ? (
          <Notice title="Nothing to draw">
            <p>
              {part.kind === 'loops'
                ? 'No queue dead-letters in a loop. Choose a queue to see what is around it.'
                : 'No edge of the chosen kinds connects these queues.'}
            </p>
          </Notice>
        ) : (
          <Picture graph={graph} placed={placed} queues={queues} dead={deadNames} vhost={vhost} chosen={queue} />
        )}
        <Legend />
      </section>
      <Facts of={part.topology} lonely={part.kind === 'queue' ? [] : graph.lonely} />
    </>
  );
}

function NoQueue({ vhost, queue }: { vhost: string; queue: string }) {
  return (
    <Notice title="There is no such queue">
      <p>
        <Name of={queue} /> is not in the virtual host <Name of={vhost} />.
      </p>
      <p>
        <a href={href(['topology'], { vhost })}>Show all queues</a>
      </p>
    </Notice>
  );
}

/** Which part is drawn, if it is not all. */
function PartNote({ part, vhost, total }: { part: Part; vhost: string; total: number }) {
  if (part.hidden === 0) return null;
  const shown = count(total - part.hidden);
  return (
    <p class="banner part-note">
      {part.kind === 'loops'
        ? `This virtual host has ${count(total)} queues, too many for one picture. Shown are the ${shown} queues of its loops. Choose a queue to see what is around it.`
        : `Shown are ${shown} of ${count(total)} queues: those from which dead letters come to this one, and to which its own go.`}{' '}
      {part.kind === 'queue' && <a href={href(['topology'], { vhost })}>Show all</a>}
    </p>
  );
}

/** The places of the nodes. They are computed anew only when nodes or edges change, not when counts do. */
function usePlaced(graph: Graph): Placed | 'failed' | undefined {
  const key = JSON.stringify([graph.nodes, graph.edges]);
  const [placed, setPlaced] = useState<{ key: string; of: Placed | 'failed' }>();
  useEffect(() => {
    let isShown = true;
    import('../../drawing/layout').then(
      ({ place }) => isShown && setPlaced({ key, of: place(graph) }),
      () => isShown && setPlaced({ key, of: 'failed' }),
    );
    return () => void (isShown = false);
  }, [key]);
  return placed?.key === key ? placed.of : undefined;
}
