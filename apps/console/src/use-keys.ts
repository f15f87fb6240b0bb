import { useEffect, useRef } from 'preact/hooks';
import { bind, type Shortcut } from './keyboard';

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
