import { visible } from '../../ui/parts';
import type { DraftHeader } from './draft';
import { fieldTypes } from './fields';

/** The headers of the publisher as rows of name, type and value. */
export function HeaderEditor(props: {
  of: readonly DraftHeader[];
  problems: ReadonlyMap<number, string>;
  change: (headers: readonly DraftHeader[]) => void;
}) {
  const { of, problems, change } = props;
  const set = (row: DraftHeader, part: Partial<DraftHeader>): void =>
    change(of.map((each) => (each.key === row.key ? { ...each, ...part } : each)));
  const add = (): void => {
    const key = Math.max(-1, ...of.map((each) => each.key)) + 1;
    change([...of, { key, name: '', type: 'longstr', text: '' }]);
  };
  return (
    <div class="card-body header-editor">
      {of.length === 0 && <p class="muted">No headers of the publisher.</p>}
      {of.map((row) => (
        <div key={row.key} class="header-row" role="group" aria-label={`Header ${visible(row.name)}`}>
          <input
            aria-label="Name"
            placeholder="name"
            value={row.name}
            spellcheck={false}
            onInput={(event) => set(row, { name: event.currentTarget.value })}
          />
          <select
            aria-label="Type"
            value={row.type}
            onChange={(event) => set(row, { type: event.currentTarget.value })}
          >
            {(fieldTypes.includes(row.type) ? fieldTypes : [...fieldTypes, row.type]).map((type) => (
              <option key={type} value={type}>
                {type}
              </option>
            ))}
          </select>
          <textarea
            aria-label="Value"
            aria-invalid={problems.has(row.key)}
            rows={Math.min(6, row.text.split('\n', 8).length)}
            value={row.type === 'void' ? '' : row.text}
            disabled={row.type === 'void'}
            spellcheck={false}
            onInput={(event) => set(row, { text: event.currentTarget.value })}
          />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove the header ${visible(row.name)}`}
            onClick={() => change(of.filter((each) => each.key !== row.key))}
          >
            ✕
          </button>
          {problems.has(row.key) && <small class="invalid">{problems.get(row.key)}</small>}
        </div>
      ))}
      <div class="header-foot">
        <button type="button" onClick={add}>
          Add a header
        </button>
        <small>Headers of deaths, retries and errors are removed by the redrive.</small>
      </div>
    </div>
  );
}
