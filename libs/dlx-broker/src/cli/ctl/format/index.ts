import { shownJson, shownLines } from '../../../host/index.js';
import type { Answer, Listing } from '../command.js';
import { csvListing } from './csv.js';
import { jsonListing } from './json.js';
import { prettyListing, prettyText } from './pretty-table.js';
import { tableListing } from './table.js';

/** Writes answers in one format. */
export interface Formatter {
  /** True if commands announce what they do, such as `Listing queues ...`. */
  readonly hasNotes: boolean;
  /** True if `--no-table-headers` has an effect. */
  readonly hasHeaders: boolean;
  listing(listing: Listing, headers: boolean): string | undefined;
  text(text: string): string;
}

const asItIs = (text: string): string => text;

/** The formats of `--formatter`. */
export const formatters = {
  table: { hasNotes: true, hasHeaders: true, listing: tableListing, text: shownLines },
  pretty_table: { hasNotes: true, hasHeaders: false, listing: prettyListing, text: prettyText },
  csv: { hasNotes: false, hasHeaders: false, listing: csvListing, text: shownLines },
  json: { hasNotes: false, hasHeaders: false, listing: jsonListing, text: asItIs },
} as const satisfies Readonly<Record<string, Formatter>>;

export type FormatterName = keyof typeof formatters;

/** The options of the output. */
export interface OutputOptions {
  readonly formatter: FormatterName;
  readonly quiet: boolean;
  readonly headers: boolean;
  /** The name of the node, for formats that show it. */
  readonly node: string;
}

/** @returns the text for standard output, without the last line break; undefined for no output */
export function written(answer: Answer, { formatter, quiet, headers, node }: OutputOptions): string | undefined {
  const format: Formatter = formatters[formatter];
  if (answer !== undefined && 'rows' in answer) {
    const listing = format.listing(answer, headers);
    return formatter === 'json' && listing !== undefined ? shownJson(listing) : listing;
  }
  if (formatter === 'json') return shownJson(json(answer, node));
  if (answer === undefined) return undefined;
  if ('note' in answer) return quiet ? undefined : format.text(answer.note);
  if ('message' in answer) return format.text(answer.message);
  return 'text' in answer ? answer.text : format.text(answer.result);
}

function json(answer: Exclude<Answer, Listing>, node: string): string {
  if (answer === undefined) return JSON.stringify({ node, result: 'ok' });
  if ('note' in answer) return JSON.stringify({ message: answer.note, node, status: 'ok' });
  if ('message' in answer) return JSON.stringify({ message: answer.message });
  if ('text' in answer) return answer.document === undefined ? answer.text : JSON.stringify(answer.document);
  return JSON.stringify({ node, result: 'ok', value: answer.result });
}
