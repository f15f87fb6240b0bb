import type { Attributes, Context, Link, Span, SpanContext, SpanKind, TimeInput, Tracer } from '@opentelemetry/api';
import type { Publication } from '../../backends/index.js';
import type {
  DlxTracing,
  Move,
  ProcessSpan,
  PublishSpan,
  RedriveSpan,
  TracedAttempt,
  TracedError,
} from '../tracing/index.js';
import { type Api, loadApi } from './api.js';
import { destinationOf, ofCreation, ofMove, ofPreviousAttempt, ofProcess, ofPublish, ofRedrive } from './attributes.js';
import { getter, incoming, type Incoming, type Outgoing, previousAttempt, setter, withTexts } from './carriers.js';
import { addDeaths, deadLettered } from './deaths.js';
import { fail } from './errors.js';
import { checkOptions, type DlxTracingOptions } from './options.js';
import { OtelProcess } from './otel-process.js';
import { OtelRedrive } from './otel-redrive.js';

/**
 * Tracing by OpenTelemetry, for the option `tracing` of `DlxBrokerModule`. Publishes, handlers, retries, parked messages and redrives
 * become spans, and the trace context travels in the headers of the messages.
 * @throws DlxConfigurationError for an unknown or impossible option, and when `@opentelemetry/api` is not installed
 */
export const dlxTracing = (options: DlxTracingOptions = {}): DlxTracing =>
  new OtelTracing(checkOptions(options), loadApi());

class OtelTracing implements DlxTracing {
  readonly #tracer: Tracer;

  constructor(
    private readonly options: DlxTracingOptions,
    private readonly api: Api,
  ) {
    const provider = options.tracerProvider ?? api.trace;
    this.#tracer = provider.getTracer('dlx-broker');
  }

  published(publication: Publication): PublishSpan {
    const { trace, context, propagation, SpanKind } = this.api;
    const { exchange, routingKey, properties } = publication;
    const template = this.options.template?.(exchange, routingKey);
    const active = context.active();
    const own = properties.headers && this.#creationOf(incoming({ own: properties }));
    const attributes = ofPublish(exchange, routingKey, properties, template);
    const name = `publish ${template ?? destinationOf(exchange, routingKey)}`;
    const span = this.#start(name, active, SpanKind.PRODUCER, attributes, linksTo(own));
    const texts: Outgoing = new Map();
    propagation.inject(trace.setSpan(active, span), texts, setter);
    const headers = withTexts(properties.headers, texts);
    return {
      publication: headers === undefined ? publication : { ...publication, properties: { ...properties, headers } },
      end: (failure) => this.#end(span, failure),
    };
  }

  startProcess(attempt: TracedAttempt): ProcessSpan {
    const { trace, SpanKind } = this.api;
    const { message, queue } = attempt;
    const around = this.#contextOf(attempt);
    const creation = trace.getSpanContext(around);
    const parent = this.options.parent === 'link' ? trace.deleteSpan(around) : around;
    const links = linksTo(creation, previousAttempt(message));
    const span = this.#start(`process ${queue}`, parent, SpanKind.CONSUMER, ofProcess(attempt), links);
    if (span.isRecording()) addDeaths(span, message);
    return new OtelProcess(this.api, span, trace.setSpan(around, span));
  }

  moved(move: Move, process: ProcessSpan | undefined): void {
    const caused = process instanceof OtelProcess ? process : undefined;
    const { message, queue, to, kind, since, isDeadLetter, refusal, failure } = move;
    if (isDeadLetter) caused?.addEvent(...deadLettered(move));
    if (kind === 'reject' && caused !== undefined) return; // a reject takes no time, and is in the span of its attempt
    const creation = this.#creationOf(incoming(message));
    const name = `${kind} ${kind === 'park' ? (to ?? queue) : queue}`;
    const around = this.#around(caused, creation);
    const span = this.#start(name, around, this.api.SpanKind.CLIENT, ofMove(move), linksTo(creation), since);
    if (isDeadLetter && caused === undefined) span.addEvent(...deadLettered(move));
    this.#end(span, failure ?? refusal);
  }

  redrive(queues: readonly string[]): RedriveSpan {
    const { context, SpanKind } = this.api;
    const span = this.#start(`redrive ${queues[0] ?? ''}`, context.active(), SpanKind.INTERNAL, ofRedrive(queues), []);
    return new OtelRedrive(
      span,
      (message) => this.#creationOf(incoming(message)),
      (failure) => this.#end(span, failure),
    );
  }

  #start(name: string, parent: Context, kind: SpanKind, own: Attributes, links: Link[], startTime?: TimeInput): Span {
    const { attributes: ofAll } = this.options;
    const attributes = ofAll === undefined ? own : { ...ofAll, ...own };
    return this.#tracer.startSpan(
      name,
      startTime === undefined ? { kind, attributes, links } : { kind, attributes, links, startTime },
      parent,
    );
  }

  /** The context of a message: that of the application, with the trace and the baggage of the publisher. */
  #contextOf(carrier: Incoming): Context {
    const { trace, context, propagation } = this.api;
    // The application may have been started inside a span, which is no parent of its messages.
    return propagation.extract(trace.deleteSpan(context.active()), carrier, getter);
  }

  /** The span in which a message was published first. */
  #creationOf(carrier: Incoming): SpanContext | undefined {
    const { trace, propagation, ROOT_CONTEXT } = this.api;
    return trace.getSpanContext(propagation.extract(ROOT_CONTEXT, carrier, getter));
  }

  /** The context of a move: the attempt that caused it, a span of the application that is under way, or the publisher. */
  #around(process: OtelProcess | undefined, creation: SpanContext | undefined): Context {
    const { trace, context, TraceFlags } = this.api;
    if (process !== undefined) return process.context;
    const active = context.active();
    const span = trace.getSpan(active);
    // The span in which the application was started has ended, and a span that is not sampled never records.
    const isUnderWay =
      span !== undefined && (span.isRecording() || (span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0);
    if (isUnderWay) return active;
    const none = trace.deleteSpan(active);
    return creation === undefined || this.options.parent === 'link' ? none : trace.setSpanContext(none, creation);
  }

  #end(span: Span, failure: TracedError | undefined): void {
    if (failure !== undefined) fail(this.api, span, failure);
    span.end();
  }
}

function linksTo(creation: SpanContext | undefined, previous?: SpanContext): Link[] {
  const links: Link[] = [];
  if (creation !== undefined) links.push({ context: creation, attributes: ofCreation });
  if (previous !== undefined) links.push({ context: previous, attributes: ofPreviousAttempt });
  return links;
}
