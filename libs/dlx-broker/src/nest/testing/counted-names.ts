import type { Names } from '../../engine/broker/ports.js';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** The length of every token: 16 bytes in base64url (rule O2). */
const tokenLength = 22;

/** Names that are counted instead of drawn: the same test makes up the same names, all of them different. */
export class CountedNames implements Names {
  #count = 0;

  token(): string {
    let token = '';
    for (let rest = ++this.#count; rest > 0; rest = Math.floor(rest / alphabet.length)) {
      token = alphabet.charAt(rest % alphabet.length) + token;
    }
    return token.padStart(tokenLength, alphabet.charAt(0));
  }
}
