import { useEffect, useState } from 'preact/hooks';
import { theme } from '../theme';

/** The present values of CSS variables that hold colours. A variable itself may hold `light-dark()`, which a canvas does not know. */
export function colorsOf(names: readonly string[]): readonly string[] {
  const probe = document.createElement('i');
  document.body.append(probe);
  const colors = names.map((name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return colors;
}

/** A number that changes with the theme, of the console or of the system. What is drawn with colours is then drawn again. */
export function useThemeRound(): string {
  const [isDark, setDark] = useState(() => darkSystem().matches);
  useEffect(() => {
    const query = darkSystem();
    const changed = (): void => setDark(query.matches);
    query.addEventListener('change', changed);
    return () => query.removeEventListener('change', changed);
  }, []);
  return `${theme.value} ${isDark}`;
}

const darkSystem = (): MediaQueryList => matchMedia('(prefers-color-scheme: dark)');
