import { useState } from 'preact/hooks';
import type { Attempt, Letter } from '../../api/types';
import { count, dateTime, duration } from '../../ui/format';
import { Card, Name, visible } from '../../ui/parts';

/** The entries that are shown at once. */
const most = 20;

/** The history of the errors of a message, the latest first. Headers bring it: all of it is text of a publisher. */
export function Attempts({ of: { errors = [], errors_omitted: omitted = 0 } }: { of: Letter }) {
  const [isWhole, setWhole] = useState(false);
  if (errors.length === 0) return null;
  const latest = errors.slice(0, -1);
  const shown = isWhole ? latest : latest.slice(0, most - 1);
  return (
    <Card
      id="attempts"
      title={
        <>
          Attempts <small>{count(errors.filter(({ redrive }) => redrive === undefined).length)}</small>
        </>
      }
      actions={<small>the latest first</small>}
    >
      <div class="table-scroll" role="region" aria-label="Attempts" tabIndex={0}>
        <table class="attempts">
          <thead>
            <tr>
              <th scope="col" class="numeric">
                Attempt
              </th>
              <th scope="col">Time</th>
              <th scope="col">Error</th>
              <th scope="col" class="minor">
                Handler
              </th>
              <th scope="col" class="minor">
                Host
              </th>
              <th scope="col" class="numeric minor">
                Took
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((entry, index) => (
              <Row key={index} of={entry} />
            ))}
            {shown.length < latest.length && (
              <tr>
                <td colSpan={6}>
                  <button type="button" class="link" onClick={() => setWhole(true)}>
                    Show {count(latest.length - shown.length)} more
                  </button>
                </td>
              </tr>
            )}
            {omitted > 0 && (
              <tr>
                <td colSpan={6} class="muted">
                  {count(omitted)} {omitted === 1 ? 'entry' : 'entries'} left out
                </td>
              </tr>
            )}
            {errors.slice(-1).map((first) => (
              <Row key="first" of={first} />
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function Row({ of: { attempt, at, name, message, handler, host, took, redrive } }: { of: Attempt }) {
  const ran = took === undefined ? undefined : took < 10_000 ? `${count(took)} ms` : duration(took);
  if (redrive !== undefined) {
    return (
      <tr class="redriven">
        <td class="numeric" />
        <td class="attempt-time">{dateTime(at)}</td>
        <td colSpan={4}>Redrive {count(redrive)}</td>
      </tr>
    );
  }
  const small = [handler, host, ran].filter((text) => text !== undefined);
  return (
    <tr>
      <td class="numeric">{count(attempt)}</td>
      <td class="attempt-time">{dateTime(at)}</td>
      <td class="attempt-error">
        <b>
          <Name of={name} empty="(no name)" />
        </b>{' '}
        {visible(message)}
        {small.length > 0 && <small class="only-narrow">{small.map(visible).join(', ')}</small>}
      </td>
      <td class="minor attempt-handler">
        <Said of={handler} />
      </td>
      <td class="minor attempt-host">
        <Said of={host} />
      </td>
      <td class="numeric minor nowrap">{ran ?? <span class="muted">–</span>}</td>
    </tr>
  );
}

const Said = ({ of }: { of: string | undefined }) =>
  of === undefined ? <span class="muted">–</span> : <Name of={of} empty="(no name)" />;
