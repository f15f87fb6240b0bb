import 'reflect-metadata';
import { expect, it } from 'vitest';
import { handlersFor, type PlannedHandler } from './handler.js';

const planned = (...patterns: readonly string[]): PlannedHandler =>
  ({ handler: { patterns, kind: 'event' } }) as unknown as PlannedHandler;

it('a pattern of a packet that is longer than any routing key is not compared word by word', () => {
  const long = `${'a.'.repeat(50_000)}end`;
  const [text, all, wild] = [planned(long), planned('#'), planned('#.a.#.a.#.end')];
  expect(handlersFor([text, all, wild], long)).toEqual([text, all]);
  expect(handlersFor([all, wild], 'b.a.a.end')).toEqual([all, wild]);
});
