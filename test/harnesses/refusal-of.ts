import { AmqpError } from '../../libs/dlx-broker/src/engine/broker/index.js';

/** @returns the broker's error; undefined when the command succeeds. Other errors are thrown */
export function refusalOf(command: () => unknown): AmqpError | undefined {
  try {
    command();
  } catch (error) {
    if (error instanceof AmqpError) return error;
    throw error;
  }
  return undefined;
}
