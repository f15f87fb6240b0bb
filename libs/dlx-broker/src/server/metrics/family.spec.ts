import { describe, expect, it } from 'vitest';
import { Histogram } from '../../engine/broker/index.js';
import { boundText, escaped, labelled, single, textOf, textOfNumber } from './family.js';

describe('the text format 0.0.4', () => {
  it.each([
    ['plain', 'plain'],
    ['a"b', 'a\\"b'],
    ['a\\b', 'a\\\\b'],
    ['a\nb', 'a\\nb'],
    ['\\n', '\\\\n'],
    ['"\\\n"', '\\"\\\\\\n\\"'],
  ])('escapes %j', (value, written) => {
    expect(escaped(value)).toBe(written);
  });

  it('writes numbers as Prometheus reads them', () => {
    expect([0, 1.5, 1e21, Infinity, -Infinity, NaN].map(textOfNumber)).toEqual([
      '0',
      '1.5',
      '1e+21',
      '+Inf',
      '-Inf',
      'NaN',
    ]);
  });

  it('writes bounds as RabbitMQ does, because panels compare the text', () => {
    expect([100, 100_000, 1e6, 5e7, 1e8, 0.005].map(boundText)).toEqual([
      '100.0',
      '100000.0',
      '1e+06',
      '5e+07',
      '1e+08',
      '0.005',
    ]);
  });

  it('escapes help texts, where quotes stay', () => {
    const metric = single<undefined>('m', 'gauge', 'a\\b\n"c"', () => 1);
    expect([...textOf(metric, undefined)]).toEqual(['# HELP m a\\\\b\\n"c"\n# TYPE m gauge\n', 'm 1\n']);
  });

  it('writes buckets that add up', () => {
    const histogram = new Histogram([1, 2.5]);
    for (const value of [0.5, 1, 2, 9]) histogram.record(value);
    const metric = labelled<undefined>('h', 'histogram', ['q'], 'h', () => [{ labels: ['a'], value: histogram }]);
    expect([...textOf(metric, undefined)][1]).toBe(
      'h_bucket{q="a",le="1.0"} 2\nh_bucket{q="a",le="2.5"} 3\nh_bucket{q="a",le="+Inf"} 4\nh_count{q="a"} 4\nh_sum{q="a"} 12.5\n',
    );
  });

  it('writes nothing about a metric without series', () => {
    expect([
      ...textOf(
        labelled<undefined>('m', 'gauge', ['a'], 'm', () => []),
        undefined,
      ),
    ]).toEqual([]);
  });
});
