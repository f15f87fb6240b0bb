import { expect, it } from 'vitest';
import { barOf, drawBar, eraseBar, shareOf } from './redrive.js';

const progress = { ready_at_start: 100, scanned: 50, moved: 40, left: 10, gone: 0, limit: null, ids: null };

it.each([
  ['half of the messages examined', {}, 0.5],
  ['nothing there', { ready_at_start: 0, scanned: 0 }, 1],
  ['a limit that is nearer than the end', { limit: 50 }, 0.8],
  ['ids', { ids: 50 }, 1],
  ['more examined than were there', { scanned: 120 }, 1],
])('knows the share of a redrive: %s', (_, changes, share) => {
  expect(shareOf({ ...progress, ...changes })).toBe(share);
});

it('fits into the line', () => {
  expect(barOf(progress, 80)).toBe('[############............]  50 %  40 moved, 10 left');
  expect(barOf(progress, 30)).toBe('[############............]  5');
});

it('draws on a terminal only', () => {
  const drawn: string[] = [];
  const terminal = { clears: false, draw: (text: string) => void drawn.push(text), write: async () => {} };
  const onInterrupt = () => () => {};
  for (const width of [undefined, 80]) {
    drawBar(progress, { ...terminal, width, onInterrupt });
    eraseBar({ ...terminal, width, onInterrupt });
  }
  expect(drawn).toEqual([`\r${barOf(progress, 80)}\u001b[K`, '\r\u001b[K']);
});
