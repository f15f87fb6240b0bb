import { signal } from '@preact/signals';

type Theme = 'system' | 'light' | 'dark';

const storageKey = 'dlx-console-theme';
const all: readonly Theme[] = ['system', 'light', 'dark'];

/** The chosen theme. The style sheet reads it from `data-theme` of the root element. */
export const theme = signal<Theme>(all.find((each) => each === localStorage.getItem(storageKey)) ?? 'system');
show();

/** Chooses the next theme and remembers it. */
export function nextTheme(): void {
  theme.value = all[(all.indexOf(theme.value) + 1) % all.length] ?? 'system';
  localStorage.setItem(storageKey, theme.value);
  show();
}

function show(): void {
  document.documentElement.dataset['theme'] = theme.value;
}
