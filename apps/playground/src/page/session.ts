import { batch, computed, signal } from '@preact/signals';
import { endsOf } from '../lessons';
import type { Lesson } from '../lessons/lesson';
import { maxCommands, type Command } from '../world/command';
import type { WorldEvent } from '../world/event';
import { Misread } from '../world/fields';
import type { ConsumerState, State } from '../world/state';
import { type Setup, World } from '../world/world';

/** A moment to which a reader can go back: after a command, or after what happened in one instant of a wait. */
export interface Moment {
  /** How many commands were done then, the last one perhaps in part. */
  readonly commands: number;
  readonly at: number;
  /** Absent when only time passed. */
  readonly command?: Command;
  readonly events: readonly WorldEvent[];
}

/** What the page shows of the world. */
interface View {
  readonly state: State;
  /** Milliseconds until something happens by itself. */
  readonly next: number | undefined;
  readonly stopped: string | undefined;
}

export const emptySetup: Setup = { topology: {}, profile: '4' };

let world = new World(emptySetup);
/** All commands, also those after the moment that is shown. */
let all: readonly Command[] = [];
let stopRun = (): void => undefined;
const names = new Map<number, string>();

/** Why a link, or a topology on a version of RabbitMQ, could not be opened. */
export const problem = signal('');
export const lesson = signal<Lesson | undefined>(undefined);
export const setup = signal<Setup>(emptySetup);
export const moments = signal<readonly Moment[]>([]);
/** The number of moments that are in the past; fewer than all after going back. */
export const shown = signal(0);
export const view = signal<View>({ state: world.state, next: undefined, stopped: undefined });
/** How much faster than real time the virtual time passes: 0 stands still. */
export const speed = signal<0 | 1 | 60>(0);
/** True while the steps of a lesson run. */
export const isRunning = signal(false);
/** What the last command brought. */
export const latest = signal<readonly WorldEvent[]>([]);
/** The commands that made what is shown. */
export const commands = signal<readonly Command[]>([]);

/** What is left of the steps of the lesson; undefined after a command that is none of them. */
export const left = computed(() =>
  lesson.value === undefined ? undefined : remaining(lesson.value.steps, commands.value),
);
/** The consumers that the lesson will have, so that the drawing has room for them from the beginning. */
export const expected = computed((): readonly ConsumerState[] =>
  (left.value ?? []).flatMap((command) =>
    command.do === 'consume' ? [{ name: command.consumer, queue: command.queue, prefetch: 1, held: [] }] : [],
  ),
);
/** True when all steps of the lesson are done. */
export const isOver = computed(() => left.value?.length === 0);

/** What queues, and consumers as `c holds`, have on the other version of RabbitMQ, after the same commands, where they differ. */
export const differing = computed((): ReadonlyMap<string, readonly string[]> => {
  const [now, done] = [view.value.state, commands.value];
  if (speed.value !== 0 || isRunning.value || done.length === 0) return new Map();
  const there = elsewhere(done);
  if (there === undefined) return new Map();
  const [ends, others] = [endsOf(now, []), endsOf(there, [])];
  const names = Object.keys({ ...ends, ...others });
  const differ = names.filter((name) => ends[name]?.join() !== others[name]?.join());
  return new Map(differ.map((name) => [name, others[name] ?? []]));
});

/** The same on the other version; undefined if that refuses the topology. */
function elsewhere(done: readonly Command[]): State | undefined {
  try {
    return World.replay({ ...setup.value, profile: otherProfile(setup.value) }, done).state;
  } catch (error) {
    if (error instanceof Misread) return undefined;
    throw error;
  }
}

export const otherProfile = ({ profile }: Setup): Setup['profile'] => (profile === '4' ? '3.10' : '4');

export const nameOf = (id: number): string => names.get(id) ?? `#${id}`;

/** Opens a world as it is after some commands. @throws Misread when the topology is wrong */
export function open(next: Setup, done: readonly Command[] = [], of?: Lesson): void {
  const fresh = new World(next);
  halt();
  names.clear();
  world = fresh;
  all = [];
  batch(() => {
    problem.value = '';
    lesson.value = of;
    setup.value = next;
    moments.value = [];
    shown.value = 0;
    latest.value = [];
    for (const command of done) record(command, () => world.run(command));
    show();
  });
}

/** Ends what runs. */
export function halt(): void {
  stopRun();
  stopRun = () => undefined;
  isRunning.value = false;
  speed.value = 0;
}

/** Does a command. After going back, what was later is forgotten. */
export function run(command: Command): void {
  batch(() => {
    problem.value = '';
    latest.value = record(command, () => world.run(command));
    show();
  });
}

/** Lets time pass. */
export function advance(ms: number): void {
  if (ms > 0) run({ do: 'wait', ms });
}

function record(command: Command, act: () => readonly WorldEvent[]): readonly WorldEvent[] {
  const before = moments.value.slice(0, shown.value);
  const events = act();
  all = world.commands;
  const done = all.length;
  if (command.do === 'publish') {
    const published = events.filter(({ kind }) => kind === 'published');
    const { body = '', count = 1 } = command;
    published.forEach((event, index) => {
      if ('id' in event && body !== '') names.set(event.id, count === 1 ? body : `${body} ${index + 1}`);
    });
  }
  const added: Moment[] = [];
  if (command.do !== 'wait') added.push({ commands: done, at: world.now, command, events });
  else
    for (const at of new Set(events.map((event) => event.at)))
      added.push({ commands: done, at, events: events.filter((event) => event.at === at) });
  moments.value = [...before, ...added].slice(-mostMoments);
  shown.value = moments.value.length;
  return events;
}

/** Moments that are kept. */
const mostMoments = 500;

function show(): void {
  view.value = { state: world.state, next: world.nextEvent(), stopped: world.stopped };
  commands.value = [...world.commands];
}

/** Shows an earlier moment, or a later one after that: 0 is the beginning. */
export function goTo(count: number): void {
  halt();
  const moment = moments.value[count - 1];
  const done = all.slice(0, moment?.commands ?? 0);
  const last = done.at(-1);
  const passed = done.reduce((sum, each) => sum + (each.do === 'wait' ? each.ms : 0), 0);
  // Only a part of the last wait had passed then.
  const part: Command | undefined =
    moment !== undefined && last?.do === 'wait' ? { do: 'wait', ms: last.ms - (passed - moment.at) } : last;
  world = World.replay(setup.value, [...done.slice(0, -1), ...(part === undefined ? [] : [part])]);
  batch(() => {
    shown.value = count;
    latest.value = [];
    show();
  });
}

/** Does the next step of the lesson; without one, goes on to the next event. */
export function step(): void {
  const [next] = left.value ?? [];
  const ms = world.nextEvent();
  if (next === undefined) return advance(Math.max(1, ms ?? 0));
  run(next.do === 'wait' && ms !== undefined && ms > 0 && ms < next.ms ? { do: 'wait', ms } : next);
}

/** Milliseconds until the next message expires. */
export function nextExpiry({ queues }: State): number | undefined {
  const times = queues
    .flatMap(({ messages }) => messages.flatMap(({ expiresIn }) => expiresIn ?? []))
    .filter((ms) => ms > 0);
  return times.length === 0 ? undefined : Math.min(...times);
}

const isStill = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Milliseconds of real time between the steps of a lesson, and the least and the most of a wait. */
const pace = { step: 1_000, least: 900, most: 2_600 } as const;

/** Runs what is left of the steps of the lesson, from the beginning if all are done or others were. */
export function runLesson(): void {
  const of = lesson.value;
  if (of === undefined) return;
  if (left.value === undefined || isOver.value) open(setup.value, [], of);
  halt();
  const next = (): void => {
    const [command] = left.value ?? [];
    if (command === undefined || world.stopped !== undefined) return halt();
    if (isStill()) run(command);
    else if (command.do === 'wait') return glide(command.ms, later);
    else run(command);
    later();
  };
  const later = (): void => {
    if (isStill()) return next();
    const timer = setTimeout(next, left.value?.length === 0 ? 0 : pace.step);
    stopRun = () => clearTimeout(timer);
  };
  isRunning.value = true;
  next();
}

/** Lets time pass within a few seconds, however long it is. */
function glide(ms: number, then: () => void): void {
  const real = Math.min(pace.most, Math.max(pace.least, ms));
  let rest = ms;
  eachFrame((passed) => {
    const part = Math.min(rest, Math.max(1, Math.round((ms * passed) / real)));
    rest -= part;
    advance(part);
    if (world.stopped !== undefined) halt();
    else if (rest === 0) then();
    return rest > 0 && world.stopped === undefined;
  });
}

/** Lets time pass at a speed until it is halted, or until nothing can happen any more. */
export function play(at: 1 | 60): void {
  halt();
  speed.value = at;
  let rest = 0;
  eachFrame((passed) => {
    rest += passed * at;
    advance(Math.floor(rest));
    rest %= 1;
    const goesOn = world.nextEvent() !== undefined && all.length < maxCommands;
    if (!goesOn) speed.value = 0;
    return goesOn;
  });
}

/** Calls a function some twenty times a second with the milliseconds of real time, while it returns true. */
function eachFrame(call: (passed: number) => boolean): void {
  let last = performance.now();
  let frame = 0;
  const tick = (now: number): void => {
    const passed = now - last;
    if (passed < 45) return void (frame = requestAnimationFrame(tick));
    last = now;
    // A page in the background, or a slow one, does not catch up.
    if (call(Math.min(passed, 100))) frame = requestAnimationFrame(tick);
  };
  frame = requestAnimationFrame(tick);
  stopRun = () => cancelAnimationFrame(frame);
}

/** What is left of steps after some commands; undefined if these are no beginning of them. */
export function remaining(steps: readonly Command[], done: readonly Command[]): readonly Command[] | undefined {
  const rest = [...steps];
  for (const command of done) {
    let next = rest.shift();
    if (next === undefined) return [];
    if (command.do !== 'wait') {
      if (JSON.stringify(next) !== JSON.stringify(command)) return undefined;
      continue;
    }
    let { ms } = command;
    for (; next?.do === 'wait' && ms >= next.ms; next = rest.shift()) ms -= next.ms;
    if (next?.do === 'wait' && ms > 0) rest.unshift({ do: 'wait', ms: next.ms - ms });
    else if (next !== undefined) {
      if (ms > 0) return undefined;
      rest.unshift(next);
    }
  }
  return rest;
}
