import type { Listing } from '../command.js';
import { cellText } from './cell.js';

const line = (texts: readonly string[]): string => texts.map((text) => `"${text.replaceAll('"', '""')}"`).join(',');

/** Comma-separated values, each in quotes. */
export function csvListing({ columns, rows, streamed }: Listing): string | undefined {
  if (rows.length === 0) return streamed ? undefined : '\r\n\r\n';
  return [line(columns), ...rows.map((row) => line(row.map(cellText)))].join('\n');
}
