export {
  bind,
  bracketed,
  callHttp,
  decodedReason,
  EndedCall,
  type HttpAnswer,
  type HttpApi,
  type HttpCall,
  LateAnswer,
  notHttp,
  opened,
} from './net.js';
export {
  amount,
  callEach,
  cutText,
  isThenable,
  shownJson,
  shownLines,
  shownText,
  stackless,
  withoutPasswords,
} from './text.js';
export {
  after,
  doNothing,
  HomeContext,
  inTime,
  keepAlive,
  loopDelayOf,
  measureLoop,
  OwnTimers,
  type Patience,
  randomNames,
  SystemClock,
  turnPace,
} from './clock.js';
export { policyPatterns } from './patterns.js';
