import type { Context, Span } from '@opentelemetry/api';
import { type ProcessOutcome, type ProcessSpan, timeOfMove, type TracedError } from '../tracing/index.js';
import type { Api } from './api.js';
import { textOf } from './carriers.js';
import type { SpanEvent } from './deaths.js';
import { fail } from './errors.js';
import { ofOutcome } from './attributes.js';

/** The span of one attempt of one handler. Its end is that of the handler; the outcome is added later. */
export class OtelProcess implements ProcessSpan {
  #end: number | undefined;

  /** @param context what the handler runs in: this span is the active one */
  constructor(
    private readonly api: Api,
    private readonly span: Span,
    readonly context: Context,
  ) {}

  get header(): string | undefined {
    const { isSpanContextValid } = this.api;
    const own = this.span.spanContext();
    return isSpanContextValid(own) ? textOf(own) : undefined;
  }

  run(handle: () => void): void {
    this.api.context.with(this.context, handle);
  }

  handled(): void {
    this.#end ??= timeOfMove();
  }

  addEvent(...[name, attributes, time]: SpanEvent): void {
    this.span.addEvent(name, attributes, time ?? this.#end);
  }

  end(outcome: ProcessOutcome, error?: TracedError): void {
    this.span.setAttributes(ofOutcome(outcome));
    if (error !== undefined) fail(this.api, this.span, error);
    this.span.end(this.#end);
  }
}
