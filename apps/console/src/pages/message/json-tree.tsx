import { useState } from 'preact/hooks';
import { count } from '../../ui/format';
import { visible } from '../../ui/parts';
import type { JsonNode } from './json';

/** The members that are shown at a time; a click shows as many more. */
const step = 100;

/** The characters of a string that are shown before a click. */
const longText = 400;

/** A JSON value as a tree. Only open parts are rendered. */
export function JsonTree({ of }: { of: JsonNode }) {
  return (
    <div class="json">
      <Value of={of} depth={0} />
    </div>
  );
}

function Value({ of, depth }: { of: JsonNode; depth: number }) {
  if (of.kind === 'object') {
    return (
      <Branch
        brackets="{}"
        depth={depth}
        size={of.members.length}
        child={(index) => {
          const [name, value] = of.members[index] as (typeof of.members)[number];
          return (
            <li key={index}>
              <span class="json-name">{visible(name)}</span>
              <span class="json-mark">: </span>
              <Value of={value} depth={depth + 1} />
            </li>
          );
        }}
      />
    );
  }
  if (of.kind === 'array') {
    return (
      <Branch
        brackets="[]"
        depth={depth}
        size={of.items.length}
        child={(index) => (
          <li key={index}>
            <span class="json-index">{index}</span>
            <Value of={of.items[index] as JsonNode} depth={depth + 1} />
          </li>
        )}
      />
    );
  }
  return of.kind === 'string' ? <Text of={of.value} /> : <span class={`json-${of.kind}`}>{of.text}</span>;
}

function Branch(props: {
  brackets: string;
  depth: number;
  size: number;
  child: (index: number) => preact.JSX.Element;
}) {
  const { brackets, depth, size, child } = props;
  const [isOpen, setOpen] = useState(depth < 3 && size <= step);
  const [shown, setShown] = useState(step);
  if (size === 0) return <span class="json-mark">{brackets}</span>;
  const what = brackets === '{}' ? 'members' : 'items';
  return (
    <>
      <button
        type="button"
        class="twist"
        aria-expanded={isOpen}
        aria-label={`${isOpen ? 'Close' : 'Open'} ${count(size)} ${what}`}
        onClick={() => setOpen(!isOpen)}
      >
        <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span>
        <span class="json-mark">{isOpen ? brackets[0] : `${brackets[0] ?? ''}…${brackets[1] ?? ''}`}</span>
        {!isOpen && (
          <small>
            {count(size)} {size === 1 ? what.slice(0, -1) : what}
          </small>
        )}
      </button>
      {isOpen && (
        <>
          <ul>
            {Array.from({ length: Math.min(size, shown) }, (_, index) => child(index))}
            {size > shown && (
              <li>
                <button type="button" class="link" onClick={() => setShown(shown + step)}>
                  {count(size - shown)} more
                </button>
              </li>
            )}
          </ul>
          <span class="json-mark">{brackets[1]}</span>
        </>
      )}
    </>
  );
}

function Text({ of }: { of: string }) {
  const [isWhole, setWhole] = useState(false);
  const text = isWhole ? of : of.slice(0, longText);
  return (
    <>
      <span class="json-string">
        &quot;{visible(text)}
        {isWhole || of.length <= longText ? '"' : '…'}
      </span>
      {!isWhole && of.length > longText && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          {count(of.length)} characters
        </button>
      )}
    </>
  );
}
