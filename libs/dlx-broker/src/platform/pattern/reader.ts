import { PatternError } from '../../engine/broker/index.js';

/** A text that is read from its beginning to its end. */
export class Reader {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  get next(): string | undefined {
    return this.text[this.at];
  }

  /** The code of the next character, which has to be there. */
  takeCode(): number {
    return this.text.charCodeAt(this.at++);
  }

  take(text: string): boolean {
    if (!this.text.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  takeMatch(sticky: RegExp): RegExpExecArray | undefined {
    sticky.lastIndex = this.at;
    const found = sticky.exec(this.text) ?? undefined;
    if (found !== undefined) this.at += found[0].length;
    return found;
  }

  fault(reason: string, position = this.at): PatternError {
    return new PatternError(reason, position);
  }
}
