import { describe, expect, it } from 'vitest';
import type { RedriveTask } from '../api/types';
import { doneShare, reasonOf, subjectOf } from './words';

const task = (part: Partial<RedriveTask>): RedriveTask =>
  ({
    state: 'running',
    ids: null,
    limit: null,
    ready_at_start: 200,
    scanned: 50,
    moved: 10,
    left: 0,
    gone: 0,
    ...part,
  }) as RedriveTask;

describe('the progress of a redrive', () => {
  it('is the share of the expected messages, or else of the examined ones', () => {
    expect(doneShare(task({}), 40)).toBe(0.25);
    expect(doneShare(task({ left: 5, gone: 5 }), 40)).toBe(0.5);
    expect(doneShare(task({}))).toBe(0.25);
    expect(doneShare(task({ ids: 50 }))).toBe(1);
  });

  it('is done when the redrive is, or at its limit', () => {
    expect(doneShare(task({ state: 'done', moved: 0 }), 40)).toBe(1);
    expect(doneShare(task({ limit: 20 }), 1_000)).toBe(0.5);
    expect(doneShare(task({ ready_at_start: 0, scanned: 0 }))).toBe(0);
  });
});

it('lists a parked message as parked until it dies again, whatever it died of before', () => {
  const deaths = [{ reason: 'rejected' }] as unknown as Parameters<typeof reasonOf>[0]['deaths'];
  const parked = { 'dlx-parked': { type: 'bool', value: true } };
  const died = { 'x-death': { type: 'array', value: [] } };
  expect(reasonOf({ deaths, headers: parked })).toBe('parked');
  expect(reasonOf({ deaths, headers: { ...parked, ...died } })).toBe('rejected');
  expect(reasonOf({ deaths, headers: died })).toBe('rejected');
});

it('says what a redrive is about', () => {
  const filter = { error: 'E: #', queue: '', headers: { a: '1', b: null } };
  expect(subjectOf({ filter, ids: null })).toBe('error E: #, died in (none), header a=1, header b');
  expect(subjectOf({ filter: null, ids: null })).toBe('all messages');
  expect(subjectOf({ filter: null, ids: 1 })).toBe('1 chosen message');
  const groups = [{}, {}] as unknown as NonNullable<RedriveTask['groups']>;
  expect(subjectOf({ filter: null, ids: null, groups })).toBe('2 groups of messages');
});
