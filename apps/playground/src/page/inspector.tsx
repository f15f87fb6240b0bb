import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { edgeId, exchangeId, missingId, queueId } from '../../../console/src/drawing/graph';
import { Reason, visible } from '../../../console/src/ui/parts';
import type { Command } from '../world/command';
import type { ConsumerState, MessageState, QueueState, State } from '../world/state';
import { type Choice, choice, foundIn, marked } from './choice';
import { nameOf, run, view } from './session';
import { briefly, type Dialect, dialects, lineOf } from './texts';

const dialect = signal<Dialect>('amqplib');

/** The chosen thing, and what a reader can do with it. */
export function Inspector() {
  const { state } = view.value;
  const of = choice.value;
  return (
    <section class="card inspector" aria-label="The chosen part">
      <header>
        <h2>{of === undefined ? 'The broker' : titleOf(of)}</h2>
        <div class="switch" role="group" aria-label="Lines in the language of">
          {dialects.map((each) => (
            <button
              type="button"
              key={each}
              aria-pressed={dialect.value === each}
              onClick={() => (dialect.value = each)}
            >
              {each === 'library' ? 'dlx-broker' : each}
            </button>
          ))}
        </div>
      </header>
      <div class="card-body">
        <Chosen of={of} state={state} />
        {of !== undefined && (
          <button type="button" class="link" onClick={() => (choice.value = undefined)}>
            The whole broker
          </button>
        )}
      </div>
    </section>
  );
}

const titleOf = (of: Choice): string =>
  of.kind === 'message'
    ? `Message ${visible(nameOf(of.id))}`
    : `${of.kind} ${of.name === '' ? '(default)' : visible(of.name)}`;

function Chosen({ of, state }: { of: Choice | undefined; state: State }) {
  if (of === undefined) return <OfBroker state={state} />;
  if (of.kind === 'message') {
    const found = foundIn(state, of);
    if (found === undefined) return <p class="muted">The message is gone from the broker.</p>;
    return <OfMessage {...found} />;
  }
  const parts = { queue: state.queues, exchange: state.exchanges, consumer: state.consumers }[of.kind];
  const found = (parts as readonly { readonly name: string }[]).find(({ name }) => name === of.name);
  if (found === undefined) return <p class="muted">It does not exist at this moment.</p>;
  if (of.kind === 'queue') return <OfQueue key={of.name} of={found as QueueState} state={state} />;
  if (of.kind === 'consumer') return <OfConsumer of={found as ConsumerState} />;
  return <OfExchange key={of.name} name={of.name} />;
}

/** A button, and the line that does the same. */
function Action({ title, does, children }: { title: string; does: Command | undefined; children?: ComponentChildren }) {
  const { line } = does === undefined ? { line: '' } : lineOf(does, dialect.value);
  return (
    <form
      class="action"
      onSubmit={(event) => {
        event.preventDefault();
        if (does !== undefined) run(does);
      }}
    >
      <div class="action-inputs">
        {children}
        <button type="submit" disabled={does === undefined}>
          {title}
        </button>
      </div>
      {line !== '' && <code>{line}</code>}
    </form>
  );
}

function Input(props: { label: string; value: string; set: (value: string) => void; numeric?: boolean }) {
  const { label, value, set, numeric = false } = props;
  return (
    <label>
      {label}
      <input
        value={value}
        size={numeric ? 5 : 8}
        inputMode={numeric ? 'numeric' : 'text'}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => set(event.currentTarget.value)}
      />
    </label>
  );
}

function Publish({ exchange, queue }: { exchange: string; queue?: string }) {
  const [body, setBody] = useState('x');
  const [key, setKey] = useState(queue ?? '');
  const [ttl, setTtl] = useState('');
  return (
    <Action
      title="Publish"
      does={{
        do: 'publish',
        ...(exchange === '' ? {} : { exchange }),
        key,
        body,
        ...(ttl === '' ? {} : { expiration: ttl }),
      }}
    >
      <Input label="Body" value={body} set={setBody} />
      {queue === undefined && <Input label="Key" value={key} set={setKey} />}
      <Input label="TTL, ms" value={ttl} set={setTtl} numeric />
    </Action>
  );
}

function OfQueue({ of, state }: { of: QueueState; state: State }) {
  const { name, messages, length, maxLength = 4 } = of;
  const expiry = messages[0]?.expiresIn;
  const taken = new Set(state.consumers.map((consumer) => consumer.name));
  const consumer =
    Array.from({ length: taken.size + 1 }, (_, at) => `c${at + 1}`).find((each) => !taken.has(each)) ?? 'c';
  const missing = Math.max(1, maxLength - length + 1);
  return (
    <>
      <Publish exchange="" queue={name} />
      <Action title="Consume" does={{ do: 'consume', queue: name, consumer }} />
      <Action title="Get one" does={length === 0 ? undefined : { do: 'get', queue: name }} />
      {expiry !== undefined && expiry > 0 && <Action title="Let it expire" does={{ do: 'wait', ms: expiry }} />}
      <Action title={`Fill, ${missing} messages`} does={{ do: 'publish', key: name, body: 'fill', count: missing }} />
      <SetPolicy pattern={`^${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`} />
      <Action title="Purge" does={length === 0 ? undefined : { do: 'purge', queue: name }} />
      <Action title="Delete" does={{ do: 'delete-queue', queue: name }} />
      {of.arguments !== undefined && <Values of={of.arguments} title="Arguments" />}
      {length > 0 && (
        <>
          <h3>Messages, the head first</h3>
          <ol class="messages">
            {messages.slice(0, 50).map((message) => (
              <li key={message.copy}>
                <MessageLink of={message} />
              </li>
            ))}
          </ol>
        </>
      )}
    </>
  );
}

function MessageLink({ of: { id, copy, body, expiresIn } }: { of: MessageState }) {
  return (
    <button type="button" class="link" onClick={() => (choice.value = { kind: 'message', id, copy })}>
      {visible(body.slice(0, 40)) || `#${id}`}
      {expiresIn !== undefined && ` (${briefly(expiresIn)})`}
    </button>
  );
}

function SetPolicy({ pattern }: { pattern: string }) {
  const [text, setText] = useState('{"max-length": 2}');
  let definition: unknown;
  try {
    definition = JSON.parse(text);
  } catch {
    definition = undefined;
  }
  const isTable = typeof definition === 'object' && definition !== null && !Array.isArray(definition);
  return (
    <Action
      title="Set policy"
      does={isTable ? { do: 'policy', policy: { name: 'p', pattern, definition: definition as never } } : undefined}
    >
      <label class="wide">
        Definition
        <input
          class="mono"
          value={text}
          spellcheck={false}
          aria-invalid={!isTable}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
    </Action>
  );
}

function OfExchange({ name }: { name: string }) {
  return (
    <>
      <Publish exchange={name} />
      <Action title="Delete" does={{ do: 'delete-exchange', exchange: name }} />
    </>
  );
}

function OfConsumer({ of: { name, held } }: { of: ConsumerState }) {
  return (
    <>
      {held.length === 0 && <p class="muted">It holds no message.</p>}
      {held.length > 0 && <Settle consumer={name} />}
      <Action title="Close its connection" does={{ do: 'cancel', consumer: name }} />
      <ol class="messages">
        {held.slice(0, 50).map((message) => (
          <li key={message.copy}>
            <MessageLink of={message} />
          </li>
        ))}
      </ol>
    </>
  );
}

function Settle({ consumer, held }: { consumer: string; held?: number }) {
  const what = { consumer, ...(held === undefined || held === 0 ? {} : { held }) };
  return (
    <>
      <Action title="Ack" does={{ do: 'ack', ...what }} />
      <Action title="Reject" does={{ do: 'reject', ...what }} />
      <Action title="Nack, requeue" does={{ do: 'nack', ...what, requeue: true }} />
    </>
  );
}

function OfBroker({ state }: { state: State }) {
  return (
    <>
      <p class="muted">Choose a queue, an exchange, a consumer or a message in the drawing.</p>
      <Publish exchange="" />
      <SetPolicy pattern=".*" />
      {state.policies.map(({ name }) => (
        <Action key={name} title={`Clear ${visible(name)}`} does={{ do: 'clear-policy', name }} />
      ))}
      <Action title="Restart" does={{ do: 'restart' }} />
    </>
  );
}

function Values({ of, title }: { of: Readonly<Record<string, unknown>>; title: string }) {
  const entries = Object.entries(of);
  if (entries.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <dl class="properties">
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt>{visible(name)}</dt>
            <dd class="mono">{visible(typeof value === 'string' ? value : JSON.stringify(value))}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function OfMessage({ message, held, consumer }: { message: MessageState; held?: number; consumer?: string }) {
  const { queue, exchange, routingKey, properties, headers, deaths, expiresIn, redelivered } = message;
  const others = Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'x-death'));
  const { headers: _, ...own } = properties as Record<string, unknown>;
  return (
    <>
      {consumer !== undefined && <Settle consumer={consumer} {...(held === undefined ? {} : { held })} />}
      {consumer === undefined && expiresIn !== undefined && expiresIn > 0 && (
        <Action title="Let it expire" does={{ do: 'wait', ms: expiresIn }} />
      )}
      <Values
        title="Message"
        of={{
          body: message.body,
          queue: consumer === undefined ? queue : `${queue}, held by ${consumer}`,
          exchange: exchange === '' ? '(default)' : exchange,
          'routing key': routingKey,
          redelivered,
          ...(expiresIn === undefined ? {} : { 'expires in': briefly(expiresIn) }),
        }}
      />
      <Values title="Properties" of={own} />
      <Values title="Headers" of={others} />
      {deaths.length > 0 && (
        <>
          <h3>x-death, the last death first</h3>
          <ol class="deaths">
            {deaths.map((death, at) => (
              <Death key={at} of={death} />
            ))}
          </ol>
        </>
      )}
    </>
  );
}

/** An entry of `x-death`. In focus, it shows where this death was on the drawing. */
function Death({ of }: { of: MessageState['deaths'][number] }) {
  const from = queueId(of.queue);
  const to = view.value.state.queues.find(({ name }) => name === of.queue);
  const exchange = to?.deadLetterExchange ?? '';
  const ends = [exchangeId(exchange), missingId(exchange), queueId(to?.deadLetterRoutingKey ?? '')];
  const mark = (): void =>
    void (marked.value = new Set([from, ...ends, ...ends.map((end) => edgeId('dead', from, end))]));
  const unmark = (): void => void (marked.value = new Set());
  return (
    <li>
      <button
        type="button"
        class="death"
        onFocus={mark}
        onBlur={unmark}
        onPointerEnter={mark}
        onPointerLeave={unmark}
        onClick={() => (choice.value = { kind: 'queue', name: of.queue })}
      >
        <Reason of={of.reason} /> <span>×{of.count}</span>
        <span class="mono">{visible(of.queue)}</span>
        <small>
          published to {of.exchange === '' ? 'the default exchange' : visible(of.exchange)} with{' '}
          {of.routingKeys.map(visible).join(', ') || 'an empty key'}
          {of.originalExpiration !== undefined && `, expiration ${visible(of.originalExpiration)}`}, at{' '}
          {timeOf(of.time)}
        </small>
      </button>
    </li>
  );
}

const timeOf = (time: number): string => new Date(time).toISOString().slice(11, 19);
