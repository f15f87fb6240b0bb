import type { RedriveOptions } from './api';

/** The fields of a redrive's pace, as typed. */
export interface Pace {
  readonly rate: string;
  readonly limit: string;
  readonly hasCircuit: boolean;
  readonly percent: string;
  readonly atLeast: string;
}

/** The defaults of the API. */
export const defaultPace: Pace = { rate: '50', limit: '', hasCircuit: true, percent: '50', atLeast: '20' };

/** The options of a form. Fields without a valid number are left to the server's default. */
export function paceOf({ rate, limit, hasCircuit, percent, atLeast }: Pace): RedriveOptions {
  const [perSecond, most, share, least] = [rate, limit, percent, atLeast].map(natural);
  return {
    ...(perSecond !== undefined && { rate: Math.min(perSecond, 100_000) }),
    ...(most !== undefined && most > 0 && { limit: most }),
    circuit: hasCircuit && { percent: Math.min(share ?? 50, 100), at_least: Math.max(least ?? 20, 1) },
  };
}

const natural = (text: string): number | undefined => (/^\d{1,9}$/.test(text.trim()) ? Number(text) : undefined);

/** Rate, limit and circuit of a redrive. */
export function PaceForm({ value, change }: { value: Pace; change: (value: Pace) => void }) {
  const number = (key: 'rate' | 'limit' | 'percent' | 'atLeast', most: number, placeholder = '') => (
    <input
      type="number"
      inputMode="numeric"
      min={key === 'rate' || key === 'percent' ? 0 : 1}
      max={most}
      value={value[key]}
      placeholder={placeholder}
      onInput={(event) => change({ ...value, [key]: event.currentTarget.value })}
    />
  );
  return (
    <fieldset class="pace">
      <legend>Pace</legend>
      <label class="field">
        <span>Messages a second</span>
        {number('rate', 100_000, '50')}
        <small>0 is as many as possible</small>
      </label>
      <label class="field">
        <span>At most</span>
        {number('limit', 999_999_999, 'all')}
        <small>messages in all</small>
      </label>
      <div class="field">
        <label class="check">
          <input
            type="checkbox"
            checked={value.hasCircuit}
            onChange={(event) => change({ ...value, hasCircuit: event.currentTarget.checked })}
          />
          Circuit
        </label>
        <small class={value.hasCircuit ? undefined : 'off'}>
          stops when more than{' '}
          <label>
            {number('percent', 100)}
            <span class="visually-hidden">percent come back</span>
          </label>{' '}
          % of at least{' '}
          <label>
            {number('atLeast', 1_000_000)}
            <span class="visually-hidden">moved messages</span>
          </label>{' '}
          die again
        </small>
      </div>
    </fieldset>
  );
}
