import { randomBytes } from 'node:crypto';
import type { Names } from '../engine/broker/index.js';

/** Random names of 128 bits, which cannot be guessed. */
export const randomNames: Names = { token: () => randomBytes(16).toString('base64url') };
