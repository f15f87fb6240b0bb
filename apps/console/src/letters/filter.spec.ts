import { describe, expect, it } from 'vitest';
import { filterOf, isDuration, isEmptyFilter, jsonFilter, messageQuery, wordsOf, writeFilter } from './filter';

const query = (text: string) => new URLSearchParams(text);

describe('the filter of an address', () => {
  it('is read and written without a loss', () => {
    const filter = {
      reason: 'rejected',
      error: 'TypeError: a & b = "c" %',
      fingerprint: '1:778c322593f616c1',
      text: '<b>ü</b>',
      died_in: 'a/b',
      older_than: '2h',
      headers: ['tenant=7', 'x'],
    };
    const written = writeFilter(query('vhost=%2F&cursor=0-1'), filter);
    expect(filterOf(query(written.toString()))).toEqual(filter);
    expect(written.get('vhost')).toBe('/');
  });

  it('keeps empty parts that select messages without a value', () => {
    const filter = filterOf(query('error=&fingerprint=&reason=&first_queue=&exchange=&text=&older_than='));
    expect(filter).toEqual({ error: '', reason: '', fingerprint: '', first_queue: '', exchange: '' });
    expect(wordsOf(filter).map(({ name, value }) => `${name} ${value}`)).toEqual([
      'reason (none)',
      'error (none)',
      'fingerprint (none)',
      'died first in (none)',
      'exchange (default)',
    ]);
  });

  it('loses parts that a new filter does not have', () => {
    expect(writeFilter(query('queue=q&reason=expired&header=a'), { text: 'x' }).toString()).toBe('queue=q&text=x');
    expect(isEmptyFilter(filterOf(query('queue=q&vhost=v&view=messages')))).toBe(true);
  });
});

describe('the filter of a request', () => {
  it('calls the queue of the death `queue`', () => {
    expect(messageQuery({ died_in: 'work', reason: '' }).toString()).toBe('reason=&queue=work');
    expect(jsonFilter({ died_in: 'work', error: '' })).toEqual({ queue: 'work', error: '' });
  });

  it('has headers with and without a value', () => {
    expect(messageQuery({ headers: ['a=1', 'b'] }).getAll('header')).toEqual(['a=1', 'b']);
    expect(jsonFilter({ headers: ['a=1=2', 'b'] })).toEqual({ headers: { a: '1=2', b: null } });
  });
});

it('knows durations of the API', () => {
  expect(['90s', '15m', '7d', '1500ms'].every(isDuration)).toBe(true);
  expect(['', '1w', '5', 'm', '-1s', '1.5h'].some(isDuration)).toBe(false);
});
