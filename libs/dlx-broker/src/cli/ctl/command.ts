import type { Api } from './api.js';
import type { Column } from './columns/column.js';
import type { Cell } from './format/cell.js';

/** The type of an option's value. A flag has no value. */
export type OptionKind = 'flag' | 'text' | 'whole';

export type OptionValue = string | number | boolean;

/** A parsed command line. */
export interface Input {
  readonly args: readonly string[];
  /** By their long names. */
  readonly options: ReadonlyMap<string, OptionValue>;
  /** Default `/`. */
  readonly vhost: string;
  /** The time limit of each answer in milliseconds: that of the command line, or else of the command. */
  readonly timeout: number | undefined;
  /** All of standard input. */
  readonly stdin: () => Promise<string>;
  /** Writes a line at once, unless `--quiet`. */
  readonly note: (text: string) => void;
  readonly quiet: boolean;
}

/** Rows under columns. `streamed`: a list without rows is shown as RabbitMQ shows a list that it sends row by row. */
export interface Listing {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly streamed: boolean;
}

/**
 * What a command answers: nothing, a string, or rows. A note is left out when quiet; a result as JSON is beside `"result": "ok"`, a
 * document is JSON already.
 */
export type Answer =
  | undefined
  | { readonly note: string }
  | { readonly message: string }
  | { readonly result: string }
  | { readonly text: string; readonly document?: unknown }
  | Listing;

/** The description of a command, and its function. */
export interface Command {
  readonly name: string;
  readonly group: string;
  /** What follows its name in the usage line. */
  readonly usage: string;
  /** One sentence for the list of commands. */
  readonly description: string;
  /** The least and the largest number of arguments; Infinity for names of columns. */
  readonly takes: readonly [number, number];
  readonly options?: Readonly<Record<string, OptionKind>>;
  /** Short names of its own options. */
  readonly short?: Readonly<Record<string, string>>;
  /** The time limit of each answer if the command line has none, in milliseconds. Default: no limit. */
  readonly timeout?: number;
  /** Position of the argument that is a password: it is never shown. */
  readonly secret?: number;
  /** The columns that the arguments may name. */
  readonly columns?: readonly Column[];
  /** The line that announces what the command does. */
  banner?(input: Input): string;
  /** @throws BadArguments */
  check?(input: Input): void;
  run(input: Input, api: Api): Promise<Answer>;
}
