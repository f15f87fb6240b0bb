import { randomBytes } from 'node:crypto';
import type { Names } from '../broker/index.js';

/** Names that cannot be guessed. */
export const randomNames: Names = { token: () => randomBytes(16).toString('base64url') };
