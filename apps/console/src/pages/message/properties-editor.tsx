import { propertyNames } from './draft';

/** The properties of a message, each in a field of its own. An empty field removes a property. */
export function PropertiesEditor(props: {
  of: Readonly<Record<string, string>>;
  problems: ReadonlyMap<string, string>;
  change: (properties: Readonly<Record<string, string>>) => void;
}) {
  const { of, problems, change } = props;
  return (
    <div class="card-body properties-editor">
      {propertyNames.map((name) => (
        <label key={name} class="field">
          <span>{name.replaceAll('_', ' ')}</span>
          <input
            value={of[name] ?? ''}
            placeholder={hints[name] ?? 'not set'}
            spellcheck={false}
            autocomplete="off"
            aria-invalid={problems.has(name)}
            onInput={(event) => change({ ...of, [name]: event.currentTarget.value })}
          />
          {problems.has(name) && <small class="invalid">{problems.get(name)}</small>}
        </label>
      ))}
      <p class="muted">
        An empty field removes the property. The <b>user id</b> must be yours, or empty.
      </p>
    </div>
  );
}

const hints: Readonly<Record<string, string>> = {
  expiration: 'milliseconds',
  delivery_mode: '1 transient, 2 persistent',
  timestamp: 'seconds since 1970',
};
