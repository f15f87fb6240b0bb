import { expect, it } from 'vitest';
import { curve, selfLoop } from './curve';

it('goes through all points, and is level there', () => {
  const path = curve([
    { x: 0, y: 0 },
    { x: 100, y: 0 },
    { x: 200, y: 100.55 },
  ]);
  expect(path).toBe('M0,0C50,0 50,0 100,0C150,0 150,100.6 200,100.6');
  expect(curve([])).toBe('');
});

it('leads from a box back to it', () => {
  expect(selfLoop({ x: 100, y: 50, width: 120, height: 20 })).toBe('M136,60C136,90 64,90 64,60');
});
