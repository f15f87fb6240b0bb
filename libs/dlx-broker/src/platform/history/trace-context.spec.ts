import { describe, expect, it } from 'vitest';
import { type Field, longstr, toFieldTable } from '../../engine/message/index.js';
import {
  addTraceContext,
  isTraceparent,
  traceContextAmong,
  traceContextIn,
  traceTextAt,
  withTraceContext,
} from './trace-context.js';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const parent = `00-${trace}-00f067aa0ba902b7-01`;
const other = `00-${trace}-1111111111111111-00`;

describe('a traceparent', () => {
  it.each([parent, other, `01-${trace}-00f067aa0ba902b7-01-more`, `cc-${trace}-00f067aa0ba902b7-ff`])('is %s', (text) =>
    expect(isTraceparent(text)).toBe(true),
  );

  it.each([
    '',
    'x',
    `${parent} `,
    `${parent}-more`,
    parent.toUpperCase(),
    `ff-${trace}-00f067aa0ba902b7-01`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${trace}-0000000000000000-01`,
    `00-${trace}-00f067aa0ba902b7-01\n`,
    `01-${trace}-00f067aa0ba902b7-01-${'x'.repeat(300)}`,
  ])('is not %j', (text) => expect(isTraceparent(text)).toBe(false));
});

describe('the headers of a message', () => {
  it('have a trace context', () => {
    const headers = { traceparent: parent, tracestate: 'a=1', baggage: 'tenant=acme', other: 1 };
    expect(traceContextIn(toFieldTable(headers))).toEqual({
      traceparent: parent,
      tracestate: 'a=1',
      baggage: 'tenant=acme',
    });
  });

  it.each<[string, Readonly<Record<string, unknown>>, object]>([
    ['no headers', {}, {}],
    ['a state without a parent', { tracestate: 'a=1' }, {}],
    ['baggage alone', { baggage: 'a=1' }, { baggage: 'a=1' }],
    ['a table in place of the parent', { traceparent: { traceparent: parent } }, {}],
    ['a list', { traceparent: [parent] }, {}],
    ['bytes', { traceparent: Buffer.from(parent) }, {}],
    ['a number', { traceparent: 1, baggage: 7 }, {}],
    ['a state of a table', { traceparent: parent, tracestate: { a: 1 } }, { traceparent: parent }],
    ['a long state', { traceparent: parent, tracestate: 'x'.repeat(513) }, { traceparent: parent }],
    ['long baggage', { traceparent: parent, baggage: 'x'.repeat(8193) }, { traceparent: parent }],
    ['a long parent', { traceparent: 'x'.repeat(100_000) }, {}],
  ])('with %s are read without an error', (_, headers, context) => {
    expect(traceContextIn(toFieldTable(headers))).toEqual(context);
  });

  it('give a propagator texts of a bounded length', () => {
    const headers = toFieldTable({ b3: `${trace}-1`, long: 'x'.repeat(8193), tracestate: 'x'.repeat(513), n: 1 });
    expect(['b3', 'long', 'tracestate', 'n', 'toString'].map((name) => traceTextAt(headers, name))).toEqual([
      `${trace}-1`,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('keep the trace context of the publisher', () => {
    const headers = new Map<string, Field>([
      ['traceparent', longstr(parent)],
      ['baggage', longstr('a=1')],
    ]);
    addTraceContext(headers, { traceparent: other, tracestate: 'b=2', baggage: 'b=2' });
    expect(traceContextIn(headers)).toEqual({ traceparent: parent, baggage: 'a=1' });
  });

  it('never get a state of another parent', () => {
    const headers = new Map<string, Field>([['tracestate', longstr('a=1')]]);
    addTraceContext(headers, { traceparent: other });
    expect(traceContextIn(headers)).toEqual({ traceparent: other });
  });
});

describe('texts by name', () => {
  it('have a trace context, not from their prototype', () => {
    expect(traceContextAmong({ traceparent: parent, tracestate: 3, baggage: 'a=1' })).toEqual({
      traceparent: parent,
      baggage: 'a=1',
    });
    expect(traceContextAmong(Object.create({ traceparent: parent }) as Record<string, string>)).toEqual({});
  });

  it('get the trace context of the message, its state included', () => {
    const texts = { traceparent: other, tracestate: 'b=2', tenant: 'acme' };
    expect({ ...withTraceContext(texts, { traceparent: parent }) }).toEqual({ traceparent: parent, tenant: 'acme' });
    expect(withTraceContext(texts, {})).toBe(texts);
    expect(withTraceContext(undefined, {})).toBeUndefined();
  });
});
