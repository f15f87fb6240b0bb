import { useEffect, useRef } from 'preact/hooks';

/** A key, or two keys in a row such as `g q`, and what it does. The help dialog lists all of them. */
export interface Shortcut {
  readonly key: string;
  readonly text: string;
  readonly run: () => void;
}

const active: Shortcut[][] = [];

/** Makes shortcuts work until the returned function is called. The latest of two for one key wins. */
export function bind(shortcuts: readonly Shortcut[]): () => void {
  const entry = [...shortcuts];
  active.push(entry);
  return () => void active.splice(active.indexOf(entry), 1);
}

/** All shortcuts that work now, one for each key. */
export function shortcuts(): readonly Shortcut[] {
  return [...new Map(active.flat().map((each) => [each.key, each])).values()];
}

/** The milliseconds in which the second of two keys has to follow. */
const sequenceTime = 1_500;

/** Sends key presses to shortcuts, except while the user types or a dialog is open. */
export function listen(): () => void {
  let first: { key: string; at: number } | undefined;
  const pressed = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
    if (document.querySelector('dialog[open]') !== null) return;
    const pair = first !== undefined && event.timeStamp - first.at < sequenceTime ? `${first.key} ${event.key}` : '';
    first = { key: event.key, at: event.timeStamp };
    const known = shortcuts();
    const shortcut = known.find(({ key }) => key === pair) ?? known.find(({ key }) => key === event.key);
    if (shortcut === undefined) return;
    event.preventDefault();
    shortcut.run();
  };
  addEventListener('keydown', pressed);
  return () => removeEventListener('keydown', pressed);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Moves the focus to the next or the previous row of the table. */
export function moveRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')];
  if (rows.length === 0) return;
  const present = rows.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
  const next = rows[Math.min(rows.length - 1, Math.max(0, present < 0 ? 0 : present + step))];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

/** The row that has the focus, by its `data-row`. */
export const focusedRow = (): HTMLElement | undefined =>
  document.activeElement?.closest<HTMLElement>('main [data-row]') ?? undefined;

/** Makes shortcuts work while the view is shown. The functions are those of the last render. */
export function useKeys(shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  const known = shortcuts.map(({ key, text }) => `${key} ${text}`).join('\n');
  useEffect(
    () => bind(shortcuts.map((shortcut, index) => ({ ...shortcut, run: () => latest.current[index]?.run() }))),
    [known],
  );
}
