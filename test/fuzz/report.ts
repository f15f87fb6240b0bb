import type { Finding, Result } from './campaign.js';
import { asCase } from './paste.js';

/** The result of a campaign, in a few lines. */
export function brief({ programs, steps, findings, passing, late, milliseconds }: Result): string {
  return [
    `${programs} programs of ${steps} steps in ${Math.round(milliseconds / 1000)} s: ${findings.length} differences`,
    `not seen again: ${passing.join(' ') || 'none'}; never in time: ${late.join(' ') || 'none'}`,
    ...findings.map(({ seed, difference }) =>
      [`seed ${seed}, step ${difference.at}`, ...differing(difference.engine, difference.other, '').slice(0, 4)].join(
        '\n  ',
      ),
    ),
  ].join('\n');
}

/** A difference in full: its program, what differs, and a case to paste. */
export function describeFinding(finding: Finding): string {
  const { seed, program, difference } = finding;
  const { at, engine, other } = difference;
  return [
    `--- seed ${seed}, step ${at}`,
    ...program.slice(0, at + 1).map((step, index) => `${index} ${JSON.stringify(step)}`),
    ...differing(engine, other, ''),
    asCase(finding),
  ].join('\n');
}

/** The smallest parts that differ, by path. */
export function differing(one: unknown, other: unknown, path: string): string[] {
  if (JSON.stringify(one) === JSON.stringify(other)) return [];
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return [`${path}: engine ${JSON.stringify(one)}, other ${JSON.stringify(other)}`];
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].flatMap((key) =>
    differing((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key], `${path}/${key}`),
  );
}
