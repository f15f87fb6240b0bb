import type { Channel } from 'amqplib';

/** One command line; V is the virtual host of the run, U a user of it. */
export interface Line {
  readonly words: readonly string[];
  readonly stdin?: string;
  /** The lines of the output that belong to this run. */
  readonly keep?: RegExp;
  /** RabbitMQ's statistics come late: until then the answer may differ. */
  readonly late?: true;
}

export interface Script {
  readonly name: string;
  /** What has to be there, in the virtual host V, and stays as long as the script runs. */
  readonly scene?: (channel: Channel) => Promise<void>;
  readonly lines: readonly Line[];
}

/** Words with blanks between them; quotes hold them together. */
export const line = (text: string, more: Omit<Line, 'words'> = {}): Line => ({
  words: [...text.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? ''),
  ...more,
});
/** A line for each text. */
export const lines = (...texts: readonly string[]): readonly Line[] => texts.map((text) => line(text));

/** What `list_vhosts` and `list_users` say of this run. */
export const ofRun = /^Listing|^name|^user\t|^vhost|[VU]/;
