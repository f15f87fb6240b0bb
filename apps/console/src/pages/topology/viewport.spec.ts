import { expect, it } from 'vitest';
import { fitted, showing, zoomed } from './viewport';

const window = { width: 1_000, height: 500 };

it('shows all of a large picture, and centres a small one', () => {
  expect(fitted({ width: 2_000, height: 500 }, window)).toEqual({ scale: 0.5, x: 0, y: 125 });
  expect(fitted({ width: 200, height: 100 }, window)).toEqual({ scale: 1, x: 400, y: 200 });
  expect(fitted({ width: 10_000, height: 500 }, window, 0.6)).toEqual({ scale: 0.6, x: 0, y: 100 });
});

it('keeps the point of a zoom in its place', () => {
  expect(zoomed({ x: 0, y: 0, scale: 1 }, 2, 100, 50)).toEqual({ x: -100, y: -50, scale: 2 });
  expect(zoomed({ x: 0, y: 0, scale: 2 }, 100, 0, 0).scale).toBe(2.5);
});

it('moves as little as needed to show a box', () => {
  const view = { x: 0, y: 0, scale: 1 };
  expect(showing(view, { x: 500, y: 100, width: 100, height: 40 }, window)).toEqual(view);
  expect(showing(view, { x: 1_000, y: 100, width: 100, height: 40 }, window)).toEqual({ ...view, x: -62 });
  expect(showing({ ...view, y: -200 }, { x: 500, y: 100, width: 100, height: 40 }, window).y).toBe(-68);
});
