import { StringDecoder } from 'node:string_decoder';

/** Puts lines together from the parts in which they come. */
export class Lines {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  #count = 0;

  /** Complete lines so far. */
  get count(): number {
    return this.#count;
  }

  /** The beginning of a line that is not complete yet. */
  get rest(): string {
    return this.#rest;
  }

  /** @returns the lines that this part completes, each with its end; empty if it completes none */
  add(part: Buffer): string {
    const text = this.#decoder.write(part);
    const end = text.lastIndexOf('\n') + 1;
    if (end === 0) {
      this.#rest += text;
      return '';
    }
    const complete = this.#rest + text.slice(0, end);
    this.#rest = text.slice(end);
    for (let at = complete.indexOf('\n'); at >= 0; at = complete.indexOf('\n', at + 1)) this.#count++;
    return complete;
  }
}
