import type { Span, SpanContext } from '@opentelemetry/api';
import type { Message } from '../../engine/message/index.js';
import type { RedriveSpan, TracedError } from '../tracing/index.js';
import { ofCreation, ofRedriven } from './attributes.js';

/** The most links of one span, which is the default limit of OpenTelemetry. */
const mostLinks = 128;

/** The span of a redrive, with links to the publishes of the first messages that it moves. */
export class OtelRedrive implements RedriveSpan {
  #links = 0;

  constructor(
    private readonly span: Span,
    private readonly creationOf: (message: Message) => SpanContext | undefined,
    private readonly close: (failure: TracedError | undefined) => void,
  ) {}

  moved(message: Message): void {
    if (this.#links >= mostLinks || !this.span.isRecording()) return;
    const context = this.creationOf(message);
    if (context === undefined) return;
    this.#links++;
    this.span.addLink({ context, attributes: ofCreation });
  }

  end(redriven: number, state: string, failure?: TracedError): void {
    this.span.setAttributes(ofRedriven(redriven, state));
    this.close(failure);
  }
}
