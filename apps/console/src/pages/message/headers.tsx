import type { Letter, TypedField } from '../../api/types';
import { count, dateTime } from '../../ui/format';
import { Card, Name, visible } from '../../ui/parts';
import { isOfBroker } from './draft';

/** The headers of a message with their AMQP types. Those of the broker are below the publisher's. */
export function Headers({ of: { headers } }: { of: Letter }) {
  const all = Object.entries(headers);
  const own = all.filter(([name]) => !isOfBroker(name));
  const ofBroker = all.filter(([name]) => isOfBroker(name));
  return (
    <Card
      id="headers"
      title={
        <>
          Headers <small>{count(own.length)}</small>
        </>
      }
    >
      {own.length === 0 ? (
        <p class="card-body muted">The publisher set no headers.</p>
      ) : (
        <Fields of={own} label="Headers of the publisher" />
      )}
      {ofBroker.length > 0 && (
        <details class="broker-headers">
          <summary>
            {count(ofBroker.length)} {ofBroker.length === 1 ? 'header' : 'headers'} of the broker and its retries
          </summary>
          <Fields of={ofBroker} label="Headers of the broker" />
        </details>
      )}
    </Card>
  );
}

function Fields({ of, label }: { of: readonly (readonly [string, TypedField])[]; label: string }) {
  return (
    <div class="table-scroll" role="region" aria-label={label} tabIndex={0}>
      <table class="fields">
        <thead class="visually-hidden">
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Type</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {of.map(([name, field]) => (
            <tr key={name}>
              <th scope="row">
                <Name of={name} empty="(no name)" />
              </th>
              <td class="type">{field.type}</td>
              <td>
                <Value of={field} depth={0} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Deeper tables are shown as JSON. */
const deepest = 6;

function Value({ of, depth }: { of: TypedField; depth: number }) {
  const { type, value, length } = of;
  if (type === 'void' || value === null) return <span class="muted">void</span>;
  if (typeof value === 'object' && depth >= deepest) return <code>{visible(JSON.stringify(value))}</code>;
  if (type === 'array' && Array.isArray(value)) {
    return <List of={value.map((each, index) => [String(index), each as TypedField])} depth={depth} kind="item" />;
  }
  if (type === 'table')
    return <List of={Object.entries(value as Record<string, TypedField>)} depth={depth} kind="field" />;
  if (type === 'decimal') return <code>{decimal(value as { scale: number; value: number })}</code>;
  return (
    <>
      <code class="value">{String(value).split('\n').map(visible).join('\n')}</code>
      {type === 'timestamp' && typeof value === 'number' && value < 8.64e12 && <small> {dateTime(value * 1000)}</small>}
      {type === 'binary' && <small> base64</small>}
      {length !== undefined && <small> the beginning of {count(length)}</small>}
    </>
  );
}

function List({ of, depth, kind }: { of: readonly (readonly [string, TypedField])[]; depth: number; kind: string }) {
  if (of.length === 0) return <span class="muted">empty</span>;
  return (
    <details open={depth < 1 && of.length <= 12}>
      <summary>
        {count(of.length)} {of.length === 1 ? kind : `${kind}s`}
      </summary>
      <ul class="nested">
        {of.slice(0, 200).map(([name, field]) => (
          <li key={name}>
            <Name of={name} empty="(no name)" /> <span class="type">{field.type}</span>{' '}
            <Value of={field} depth={depth + 1} />
          </li>
        ))}
        {of.length > 200 && <li class="muted">and {count(of.length - 200)} more</li>}
      </ul>
    </details>
  );
}

/** A decimal of AMQP as digits: value divided by ten to the power of scale. */
function decimal({ scale, value }: { scale: number; value: number }): string {
  const digits = String(Math.abs(value)).padStart(scale + 1, '0');
  const point = digits.length - scale;
  return `${value < 0 ? '-' : ''}${digits.slice(0, point)}${scale > 0 ? `.${digits.slice(point)}` : ''}`;
}
