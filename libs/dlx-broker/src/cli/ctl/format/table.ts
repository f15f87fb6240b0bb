import type { Listing } from '../command.js';
import { cellText } from './cell.js';

/** Values separated by tabs, with a header line. */
export function tableListing({ columns, rows, streamed }: Listing, headers: boolean): string | undefined {
  if (rows.length === 0) return streamed ? undefined : '';
  const head = headers ? [columns.join('\t')] : [];
  return [...head, ...rows.map((row) => row.map(cellText).join('\t'))].join('\n');
}
