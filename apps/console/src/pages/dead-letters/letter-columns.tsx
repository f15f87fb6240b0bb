import type { Letter } from '../../api/types';
import type { LetterFilter } from '../../letters/filter';
import { diedAt, reasonOf, snippetOf } from '../../letters/words';
import { count } from '../../ui/format';
import { Age, Name, Reason, visible } from '../../ui/parts';
import type { Column } from '../../ui/table';
import { letterHref } from '../../letters/links';
import { Check } from './selection';

/** The columns of a list of messages. */
export function letterColumns(props: {
  vhost: string;
  queue: string;
  filter: LetterFilter;
  chosen: ReadonlySet<string>;
  toggle: (key: string) => void;
  isAllChosen: boolean;
  toggleAll: () => void;
}): readonly Column<Letter>[] {
  const { vhost, queue, filter, chosen, toggle, isAllChosen, toggleAll } = props;
  return [
    {
      title: 'Choose',
      heading: (
        <Check
          label="Choose all messages of this page"
          checked={isAllChosen}
          some={chosen.size > 0}
          toggle={toggleAll}
        />
      ),
      cell: ({ id }) => <Check label={`Choose message ${id}`} checked={chosen.has(id)} toggle={() => toggle(id)} />,
    },
    {
      title: 'Message',
      cell: (letter) => (
        <div class="letter">
          <a class="letter-error" href={letterHref(vhost, queue, letter.id, filter)}>
            {letter.error === null ? (
              <span>Message {letter.id}</span>
            ) : (
              <>
                <b>
                  <Name of={letter.error.class} />
                </b>{' '}
                <Name of={(letter.error.message ?? '').slice(0, 300)} empty=" " />
              </>
            )}
          </a>
          <span class="only-narrow">
            <Reason of={reasonOf(letter)} />
          </span>
          <code class="snippet">{visible(snippetOf(letter))}</code>
        </div>
      ),
    },
    {
      title: 'Reason',
      minor: true,
      cell: (letter) => (
        <span class="stacked">
          <Reason of={reasonOf(letter)} />
          <Rounds of={letter} />
        </span>
      ),
    },
    { title: 'Origin', minor: true, cell: (letter) => <Origin of={letter} /> },
    { title: 'Died', numeric: true, cell: (letter) => <Age of={diedAt(letter)} /> },
  ];
}

/** How often the message died and was redriven, if more than once. */
function Rounds({ of: { deaths, redrives } }: { of: Letter }) {
  const died = deaths.reduce((sum, death) => sum + death.count, 0);
  return (
    <small>
      {died > 1 && `${count(died)} deaths`}
      {redrives > 0 && `${died > 1 ? ', ' : ''}redriven ${redrives === 1 ? 'once' : `${redrives} times`}`}
    </small>
  );
}

/** Where the message was published first. An origin that only headers name is marked. */
function Origin({ of: { origin } }: { of: Pick<Letter, 'origin'> }) {
  if (origin === null) return <span class="muted">unknown</span>;
  return (
    <span class="stacked">
      <span>
        <Name of={origin.exchange} /> <span class="muted">→</span> <Name of={origin.routing_key} empty="(no key)" />
      </span>
      {!origin.proven && (
        <small class="unproven" title="Only headers name this origin. A publisher may have written them.">
          not proven
        </small>
      )}
    </span>
  );
}
