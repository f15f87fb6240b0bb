import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, afterEach, beforeAll } from 'vitest';

const exporter = new InMemorySpanExporter();

/** The ids of the spans in the order of their start: times have the resolution of a millisecond. */
const started: string[] = [];

const order: SpanProcessor = {
  onStart: (span) => void started.push(span.spanContext().spanId),
  onEnd: () => undefined,
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};

/** Registers OpenTelemetry as an application does, for the cases of this file. */
export function registerTracing(): BasicTracerProvider {
  const provider = new BasicTracerProvider({ spanProcessors: [order, new SimpleSpanProcessor(exporter)] });
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const propagators = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()];
    propagation.setGlobalPropagator(new CompositePropagator({ propagators }));
    trace.setGlobalTracerProvider(provider);
  });
  afterEach(() => {
    exporter.reset();
    started.splice(0);
  });
  // Files of other tests run in this process, and none of them traces.
  afterAll(() => {
    trace.disable();
    propagation.disable();
    context.disable();
  });
  return provider;
}

/** The spans that have ended, by their start. */
export function spans(): readonly ReadableSpan[] {
  const ended = new Map(exporter.getFinishedSpans().map((span) => [span.spanContext().spanId, span]));
  return started.flatMap((id) => ended.get(id) ?? []);
}

export const named = (name: string): readonly ReadableSpan[] => spans().filter((span) => span.name === name);

/** The attributes of ours and the status, in a line. */
function factsOf({ kind, attributes, status }: ReadableSpan): string {
  const facts = Object.entries(attributes).flatMap(([name, value]) =>
    name.startsWith('dlx.') && name !== 'dlx.handler' ? [`${name.slice(4)}=${String(value)}`] : [],
  );
  const failed = status.code === SpanStatusCode.ERROR ? [`ERROR ${status.message}`] : [];
  return [SpanKind[kind], ...facts, ...failed].join(' ');
}

/** All spans as trees, numbered by their start. Links and events stand below their span. */
export function printTraces(): string {
  const all = spans();
  const numbers = new Map(all.map((span, index) => [span.spanContext().spanId, index + 1]));
  const lines: string[] = [];
  const print = (span: ReadableSpan, depth: number): void => {
    const { spanId } = span.spanContext();
    const indent = '  '.repeat(depth);
    lines.push(`${indent}#${numbers.get(spanId)} ${span.name}  (${factsOf(span)})`);
    for (const { context, attributes } of span.links) {
      lines.push(`${indent}    link to #${numbers.get(context.spanId) ?? '?'}: ${String(attributes?.['dlx.link'])}`);
    }
    for (const { name, attributes } of span.events) {
      const { 'dlx.reason': reason, 'dlx.queue': queue, 'dlx.to': to, 'exception.type': type } = attributes ?? {};
      const what = [reason ?? type, queue && `in ${String(queue)}`, to && `to ${String(to)}`].filter(Boolean);
      lines.push(`${indent}    event ${name}: ${what.join(' ')}`);
    }
    for (const child of all) if (child.parentSpanContext?.spanId === spanId) print(child, depth + 1);
  };
  for (const span of all) {
    const parent = span.parentSpanContext?.spanId;
    if (parent === undefined || !numbers.has(parent)) print(span, 0);
  }
  return `${lines.join('\n')}\n`;
}
