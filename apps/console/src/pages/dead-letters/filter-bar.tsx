import type { ComponentChildren } from 'preact';
import { request } from '../../api/http';
import { useResource } from '../../api/use-resource';
import { ages, type FilterPart, isDuration, type LetterFilter, reasonChoices, wordsOf } from '../../letters/filter';
import { visible } from '../../ui/parts';
import { changeFilter, changePlace } from '../../letters/links';

/** The filter above groups and messages. All of it is in the address. */
export function FilterBar(props: {
  vhost: string | undefined;
  queue: string | undefined;
  filter: LetterFilter;
  /** The names that the queue field suggests. */
  queues?: readonly string[];
  /** False in the list of one queue: its queue is fixed. */
  hasQueue?: boolean;
  /** A field after those of the filter. */
  children?: ComponentChildren;
}) {
  const { vhost, queue, filter, queues = [], hasQueue = true, children } = props;
  return (
    <>
      <form class="filters letters-filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <Text name="Text in the body" part="text" filter={filter} isFirst wide />
        {hasQueue && <VirtualHosts vhost={vhost} />}
        {hasQueue && (
          <Field name="Dead-letter queue">
            <input
              key={queue ?? ''}
              list="dead-letter-queues"
              defaultValue={queue ?? ''}
              placeholder="all"
              spellcheck={false}
              onChange={(event) => changePlace({ queue: event.currentTarget.value || undefined })}
            />
            <datalist id="dead-letter-queues">
              {queues.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </Field>
        )}
        <Field name="Reason">
          <select
            value={filter.reason ?? '*'}
            onChange={(event) => {
              const { value } = event.currentTarget;
              changeFilter((present) => ({ ...present, reason: value === '*' ? undefined : value }));
            }}
          >
            <option value="*">any</option>
            {reasonChoices(filter.reason).map((reason) => (
              <option key={reason} value={reason}>
                {visible(reason)}
              </option>
            ))}
            <option value="">neither died nor parked</option>
          </select>
        </Field>
        <Text name="Error" part="error" filter={filter} placeholder="class or kind" />
        <Age filter={filter} />
        {children}
        <More filter={filter} />
      </form>
      <Chips filter={filter} />
    </>
  );
}

function Field({ name, children, wide = false }: { name: string; children: ComponentChildren; wide?: boolean }) {
  return (
    <label class={wide ? 'wide' : undefined}>
      {name}
      {children}
    </label>
  );
}

/** A string of the filter. It is applied by Enter, or when the field loses the focus. */
function Text(props: {
  name: string;
  part: FilterPart;
  filter: LetterFilter;
  placeholder?: string;
  isFirst?: boolean;
  wide?: boolean;
}) {
  const { name, part, filter, placeholder, isFirst = false, wide = false } = props;
  const value = filter[part] ?? '';
  return (
    <Field name={name} wide={wide}>
      <input
        key={value}
        type="search"
        data-filter={isFirst ? '' : undefined}
        defaultValue={value}
        placeholder={placeholder ?? (isFirst ? 'Press / to search' : undefined)}
        spellcheck={false}
        onChange={(event) => {
          const text = event.currentTarget.value;
          changeFilter((present) => ({ ...present, [part]: text || undefined }));
        }}
      />
    </Field>
  );
}

function Age({ filter }: { filter: LetterFilter }) {
  const present =
    filter.older_than !== undefined
      ? `older_than=${filter.older_than}`
      : filter.younger_than !== undefined
        ? `younger_than=${filter.younger_than}`
        : '';
  return (
    <Field name="Died">
      <select
        value={present}
        onChange={(event) => {
          const [part, age] = event.currentTarget.value.split('=');
          changeFilter((present) => ({
            ...present,
            older_than: part === 'older_than' ? age : undefined,
            younger_than: part === 'younger_than' ? age : undefined,
          }));
        }}
      >
        <option value="">any time</option>
        {ages.map(([query, text]) => (
          <option key={query} value={query}>
            {text}
          </option>
        ))}
        {present !== '' && !ages.some(([query]) => query === present) && (
          <option value={present}>{visible(present.replace('_than=', ' than '))}</option>
        )}
      </select>
    </Field>
  );
}

/** Virtual hosts, if there are several. */
function VirtualHosts({ vhost }: { vhost: string | undefined }) {
  const hosts = useResource('vhosts', (signal) =>
    request<readonly { name: string }[]>('vhosts', { signal, query: { columns: 'name' } }),
  );
  if ((hosts.data?.length ?? 0) < 2 && vhost === undefined) return null;
  const names = [...new Set([...(hosts.data ?? []).map(({ name }) => name), ...(vhost === undefined ? [] : [vhost])])];
  return (
    <Field name="Virtual host">
      <select value={vhost ?? ''} onChange={(event) => changePlace({ vhost: event.currentTarget.value || undefined })}>
        <option value="">all</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {visible(name)}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** The parts of the filter that are seldom needed. */
function More({ filter }: { filter: LetterFilter }) {
  return (
    <details class="more-filters">
      <summary class="button">More</summary>
      <div>
        <Text name="Died last in" part="died_in" filter={filter} placeholder="queue" />
        <Text name="Died first in" part="first_queue" filter={filter} placeholder="queue" />
        <Text name="Fingerprint" part="fingerprint" filter={filter} />
        <Text name="Exchange of the origin" part="exchange" filter={filter} />
        <Text name="Routing key of the origin" part="routing_key" filter={filter} />
        <Field name="Header">
          <input
            key={(filter.headers ?? []).join('\n')}
            placeholder="name or name=value"
            spellcheck={false}
            onChange={(event) => {
              const text = event.currentTarget.value.trim();
              if (text === '' || text.startsWith('=')) return;
              changeFilter((present) => ({ ...present, headers: [...(present.headers ?? []), text].slice(-10) }));
            }}
          />
        </Field>
        <Field name="Older than">
          <input
            key={filter.older_than ?? ''}
            defaultValue={filter.older_than ?? ''}
            placeholder="90s, 15m, 2h, 7d"
            pattern="\d{1,12}(ms|s|m|h|d)"
            onChange={(event) => {
              const text = event.currentTarget.value.trim();
              if (text !== '' && !isDuration(text)) return void event.currentTarget.reportValidity();
              changeFilter((present) => ({ ...present, older_than: text || undefined }));
            }}
          />
        </Field>
      </div>
    </details>
  );
}

/** The parts of the filter in words, each with a button that removes it. */
function Chips({ filter }: { filter: LetterFilter }) {
  const words = wordsOf(filter);
  if (words.length === 0) return null;
  return (
    <ul class="chips" aria-label="Filters">
      {words.map(({ part, name, value }, index) => (
        <li key={`${part}${index}`}>
          <span class="muted">{name}</span> <bdi>{visible(value)}</bdi>
          <button
            type="button"
            class="quiet"
            aria-label={`Remove the filter ${name}`}
            onClick={() =>
              changeFilter((present) =>
                part === 'headers'
                  ? { ...present, headers: present.headers?.filter((each) => each !== value) }
                  : { ...present, [part]: undefined },
              )
            }
          >
            ✕
          </button>
        </li>
      ))}
      {words.length > 1 && (
        <li class="clear">
          <button type="button" class="link" onClick={() => changeFilter(() => ({}))}>
            Clear
          </button>
        </li>
      )}
    </ul>
  );
}
