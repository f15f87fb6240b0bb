import { useEffect, useRef } from 'preact/hooks';
import { Prose } from './prose';
import {
  advance,
  goTo,
  halt,
  isRunning,
  left,
  moments,
  type Moment,
  nameOf,
  nextExpiry,
  play,
  shown,
  speed,
  step,
  view,
} from './session';
import { briefly, lineOf, sentenceOf } from './texts';

/** The time, and what happened so far. */
export function Clock() {
  const { state, next, stopped } = view.value;
  const moves = speed.value !== 0 || isRunning.value;
  const expiry = nextExpiry(state);
  const steps = left.value?.length ?? 0;
  return (
    <section class="card clock" aria-label="Time">
      <div class="clock-bar">
        <output class="now" aria-label="Now">
          {seconds(state.now)}
        </output>
        <button type="button" disabled={shown.value === 0} onClick={() => goTo(shown.value - 1)}>
          Back
        </button>
        <button type="button" disabled={moves || (next === undefined && steps === 0)} onClick={step}>
          Step
        </button>
        {moves ? (
          <button type="button" onClick={halt}>
            Pause
          </button>
        ) : (
          <>
            <button type="button" disabled={next === undefined} onClick={() => play(1)}>
              ×1
            </button>
            <button type="button" disabled={next === undefined} onClick={() => play(60)}>
              ×60
            </button>
          </>
        )}
        <button type="button" disabled={moves || expiry === undefined} onClick={() => advance(expiry ?? 0)}>
          To the next expiry
        </button>
        <span class="muted">
          {next !== undefined
            ? `Something happens in ${briefly(next)}.`
            : steps > 0
              ? 'Run the lesson, or take one step.'
              : 'Nothing happens by itself.'}
        </span>
      </div>
      {stopped !== undefined && <p class="banner banner-failed">It stops here: {stopped}.</p>}
      <input
        type="range"
        aria-label="Moments"
        aria-valuetext={`${shown.value} of ${moments.value.length}, at ${seconds(state.now)}`}
        min="0"
        max={moments.value.length}
        value={shown.value}
        disabled={moments.value.length === 0}
        onInput={(event) => goTo(Number(event.currentTarget.value))}
      />
      <Moments />
    </section>
  );
}

/** Moments that are listed. */
const most = 60;

function Moments() {
  const list = useRef<HTMLOListElement>(null);
  const all = moments.value;
  const from = Math.max(0, Math.min(all.length - most, shown.value - most / 2));
  useEffect(() => {
    const element = list.current;
    const last = element?.querySelector<HTMLElement>('[aria-current]');
    if (element != null && last != null)
      element.scrollTop = last.offsetTop - element.clientHeight + last.offsetHeight + 8;
  }, [shown.value, all]);
  return (
    <ol ref={list} class="moments" aria-label="What happened" tabIndex={0}>
      {all.length === 0 && <li class="muted">Nothing has happened yet.</li>}
      {all.slice(from, from + most).map((moment, index) => {
        const at = from + index + 1;
        return (
          <li key={at} class={at > shown.value ? 'later' : ''} aria-current={at === shown.value ? 'step' : undefined}>
            <button type="button" onClick={() => goTo(at)}>
              <span class="at">{seconds(moment.at)}</span>
              <span class="what">
                <What of={moment} />
              </span>
            </button>
          </li>
        );
      })}
    </ol>
  );
}

function What({ of: { command, events } }: { of: Moment }) {
  const most = 8;
  return (
    <>
      {command !== undefined && <code>{lineOf(command, 'amqplib').line}</code>}
      {events.slice(0, most).map((event) => (
        <span key={event.number} class={`event event-${event.kind}`}>
          <Prose of={sentenceOf(event, nameOf)} />
        </span>
      ))}
      {events.length > most && <span class="event">and {events.length - most} more events</span>}
    </>
  );
}

const seconds = (ms: number): string => (ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : briefly(ms));
