import type { ComponentChildren } from 'preact';
import { ago, dateTime, shortAge } from './format';
import type { Feature } from '../api/types';

/** A name that may be empty or contain anything. Control characters are made visible. */
export function Name({ of, empty = '(default)' }: { of: string; empty?: string }) {
  return of === '' ? <span class="muted">{empty}</span> : <bdi class="name">{visible(of)}</bdi>;
}

/** Text with control and direction characters as their escapes, so that a name cannot pretend to be another one. */
export const visible = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`);

/** A time as its age, with the date in the tooltip. In the short form the age has one unit: `3 h`. */
export function Age({ of, now, short = false }: { of: number | null | undefined; now?: number; short?: boolean }) {
  if (of === null || of === undefined) return <span class="muted">–</span>;
  const date = new Date(of);
  // A publisher may write any number of seconds, and dates end in the year 275760.
  if (Number.isNaN(date.getTime())) return <span class="muted">no date</span>;
  return (
    <time dateTime={date.toISOString()} title={dateTime(of)}>
      {short ? shortAge(of, now) : ago(of, now)}
    </time>
  );
}

/** The reason of a death, in the colour that it has in charts. */
export function Reason({ of }: { of: string }) {
  return <span class={`reason reason-${/^[a-z_]+$/.test(of) ? of : 'other'}`}>{of === '' ? 'none' : visible(of)}</span>;
}

/** A short label, such as the letter of a queue's feature. */
export function Tag({ tip, children }: { tip?: string; children: ComponentChildren }) {
  return (
    <span class="tag" title={tip}>
      {children}
    </span>
  );
}

/** Marks what only headers say, which the publisher of a message may have written. */
export function NotProven() {
  return (
    <span
      class="tag tag-warn"
      title="Only headers of its next message say that it holds dead letters, and a publisher can write headers"
    >
      not proven
    </span>
  );
}

/** A figure with its name. */
export function Figure({
  name,
  value,
  of,
  tone,
}: {
  name: string;
  value: string;
  of?: string;
  tone?: 'dead' | 'warn';
}) {
  return (
    <div class={`figure ${tone === undefined ? '' : `figure-${tone}`}`}>
      <dt>{name}</dt>
      <dd>
        {value} {of !== undefined && <small>{of}</small>}
      </dd>
    </div>
  );
}

/** The head of a page: title, what it is about, and its actions. */
export function PageHead(props: { title: ComponentChildren; sub?: ComponentChildren; children?: ComponentChildren }) {
  const { title, sub, children } = props;
  return (
    <header class="page-head">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        {sub !== undefined && <p class="muted">{sub}</p>}
      </div>
      {children !== undefined && <div class="actions">{children}</div>}
    </header>
  );
}

/** A part of a page with a heading. */
export function Card(props: {
  title: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
  id?: string;
}) {
  const { title, actions, children, id } = props;
  return (
    <section class="card" id={id}>
      <header>
        <h2>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}

/** The mark of the project: an envelope. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" fill="none" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--dead)" />
      <path
        d="M7 10.5h18V22a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1zm.5.5 8.5 6.5L24.500 11"
        stroke="#fff"
        stroke-width="2"
        stroke-linejoin="round"
      />
    </svg>
  );
}

/** The letters of a queue, as in RabbitMQ's list. The tooltip has the value; a screen reader reads it in place of the letters. */
export function Features({ of }: { of: readonly Feature[] }) {
  return (
    <span class="features">
      {of.map(({ letter, tip }) => (
        <span key={letter} class={letter === 'DLX' || letter === 'DLK' ? 'tag tag-strong' : 'tag'} title={visible(tip)}>
          <span aria-hidden="true">{visible(letter)}</span>
          <span class="visually-hidden">{visible(tip)}; </span>
        </span>
      ))}
    </span>
  );
}
