import type { Terminal } from './ask.js';

/** The part of a redrive that a bar shows. */
export interface Progress {
  readonly ready_at_start: number;
  readonly scanned: number;
  readonly moved: number;
  readonly left: number;
  readonly gone: number;
  readonly limit: number | null;
  readonly ids: number | null;
}

const barWidth = 24;

/** The share of a redrive that is done, from 0 to 1. A redrive ends at its limit, or when all messages were examined. */
export function shareOf({ ready_at_start: ready, scanned, moved, left, gone, limit, ids }: Progress): number {
  const shares = [
    ready === 0 ? 1 : scanned / ready,
    ...(limit === null || limit === 0 ? [] : [moved / limit]),
    ...(ids === null || ids === 0 ? [] : [(moved + left + gone) / ids]),
  ];
  return Math.min(1, Math.max(...shares));
}

/** One line: a bar, the share in percent, and the counts. @param width characters of the line at most */
export function barOf(progress: Progress, width: number): string {
  const share = shareOf(progress);
  const filled = Math.floor(share * barWidth);
  const counts = [`${progress.moved} moved`, ...(progress.left > 0 ? [`${progress.left} left`] : [])].join(', ');
  const bar = `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}]`;
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${counts}`.slice(0, Math.max(1, width - 1));
}

/** Draws a bar over the previous one, on a terminal only. */
export function drawBar(progress: Progress, terminal: Terminal | undefined): void {
  if (terminal?.width !== undefined) terminal.draw(`\r${barOf(progress, terminal.width)}\u001b[K`);
}

export function eraseBar(terminal: Terminal | undefined): void {
  if (terminal?.width !== undefined) terminal.draw('\r\u001b[K');
}
