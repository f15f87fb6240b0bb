import type { LoopKind, Topology } from '../../api/topology';
import { href } from '../../router';
import { count, duration } from '../../ui/format';
import { Card, Name } from '../../ui/parts';
import { shownLoops } from '../../drawing/graph';

/** What each kind of loop does. */
const kinds: Readonly<Record<LoopKind, { readonly title: string; readonly text: string }>> = {
  retry: { title: 'Retry', text: 'A consumer rejects the message, and it comes back after a wait.' },
  spin: { title: 'No wait', text: 'A consumer rejects the message, and it comes back at once.' },
  dropped: {
    title: 'May drop',
    text: 'A message can go round without a rejection. The broker drops it when it comes back so.',
  },
};

/** The most loops and names that are listed. */
const mostListed = 30;

/** Retry loops, exchanges that do not exist, and queues without connections, as lists below the graph. */
export function Facts({ of, lonely }: { of: Topology; lonely: readonly string[] }) {
  const loops = shownLoops(of);
  return (
    <div class="grid">
      {loops.length > 0 && (
        <Card title={loops.length === 1 ? 'One loop' : `${count(loops.length)} loops`}>
          <ul class="facts">
            {loops.slice(0, mostListed).map(({ vhost, queues, kind, delay, certain }) => (
              <li key={queues.join('\n')}>
                <span class={`loop loop-${kind}`}>{kinds[kind].title}</span>
                <span class="loop-way">
                  {queues.map((queue) => (
                    <span key={queue}>
                      <a href={href(['queues', vhost, queue])}>
                        <Name of={queue} />
                      </a>
                      <span aria-hidden="true"> → </span>
                    </span>
                  ))}
                  <span class="muted">
                    {queues.length === 1 ? 'itself' : 'and again'}
                    {delay > 0 && `, ${duration(delay)} a round`}
                    {!certain && ', for some messages'}
                  </span>
                </span>
                <small>{kinds[kind].text}</small>
              </li>
            ))}
            {loops.length > mostListed && <li class="muted">and {count(loops.length - mostListed)} more</li>}
          </ul>
        </Card>
      )}
      {of.dangling.length > 0 && (
        <Card title="Exchanges that do not exist">
          <ul class="facts">
            {of.dangling.slice(0, mostListed).map(({ vhost, kind, of: from, exchange }) => (
              <li key={`${kind} ${from}`}>
                <span class="loop loop-spin">Drops</span>
                <span class="loop-way">
                  {kind === 'dead-letter-exchange' ? (
                    <a href={href(['queues', vhost, from])}>
                      <Name of={from} />
                    </a>
                  ) : (
                    <>
                      exchange <Name of={from} />
                    </>
                  )}{' '}
                  → <Name of={exchange} />
                </span>
                <small>
                  {kind === 'dead-letter-exchange'
                    ? 'Its dead-letter exchange does not exist. Messages that die in the queue are dropped.'
                    : 'Its alternate exchange does not exist. Messages that no binding matches are dropped.'}
                </small>
              </li>
            ))}
            {of.dangling.length > mostListed && (
              <li class="muted">and {count(of.dangling.length - mostListed)} more</li>
            )}
          </ul>
        </Card>
      )}
      {lonely.length > 0 && (
        <Card title="Queues without a connection">
          <p class="card-body lonely">
            {lonely.slice(0, mostListed).map((name) => (
              <a key={name} href={href(['queues', of.queues[0]?.vhost ?? '/', name])}>
                <Name of={name} />
              </a>
            ))}
            {lonely.length > mostListed && <span class="muted">and {count(lonely.length - mostListed)} more</span>}
          </p>
        </Card>
      )}
    </div>
  );
}
