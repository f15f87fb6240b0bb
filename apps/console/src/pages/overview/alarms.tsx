import type { Alarm } from '../../api/overview';
import { href } from '../../router';
import { count } from '../../ui/format';
import { Name, visible } from '../../ui/parts';

/** What each kind of alarm is called, and how urgent it is. */
const kinds: Readonly<Record<string, { readonly title: string; readonly tone: 'warn' | 'bad' }>> = {
  growing: { title: 'Growing', tone: 'warn' },
  loop: { title: 'Many rounds', tone: 'warn' },
  stuck_dlx: { title: 'Dead letters not routed', tone: 'bad' },
  memory: { title: 'Memory', tone: 'bad' },
  disk: { title: 'Disk', tone: 'bad' },
  stalled: { title: 'Stalled', tone: 'bad' },
  paused: { title: 'Paused', tone: 'warn' },
};

/** The alarms of the broker and of its dead-letter queues. Nothing if there are none. */
export function Alarms({ of, more }: { of: readonly Alarm[]; more: number }) {
  if (of.length === 0) return null;
  return (
    <ul class="alarms" aria-label="Alarms">
      {of.map(({ kind, vhost, queue, text }, index) => {
        const { title, tone } = kinds[kind] ?? { title: visible(kind), tone: 'warn' };
        return (
          <li key={index} class={`alarm alarm-${tone}`}>
            <b>{title}</b>
            <span>
              {vhost !== null && queue !== null && (
                <>
                  <a href={href(['queues', vhost, queue])}>
                    <Name of={queue} />
                  </a>{' '}
                </>
              )}
              {visible(text)}
            </span>
          </li>
        );
      })}
      {more > 0 && <li class="muted">and {count(more)} more</li>}
    </ul>
  );
}
