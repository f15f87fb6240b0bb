import type { Feature } from '../../core/feature.js';
import { askedHeaders } from '../../core/outcomes.js';

/** The headers that the exception of a handler asks for: the state of a `RetryLater`, and those of `Park` and `Reject`. */
export const asked: Feature = {
  name: 'asked headers',
  headers: ({ error }, _move, before) => {
    const own = askedHeaders(error);
    return own === undefined ? before : new Map([...before, ...own]);
  },
};
