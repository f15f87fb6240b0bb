export { bracketed } from './bracketed.js';
export { callEach } from './call-each.js';
export { SystemClock } from './clock.js';
export { doNothing } from './own-timers.js';
export { HomeContext } from './clock.js';
export {
  callHttp,
  decodedReason,
  EndedCall,
  type HttpAnswer,
  type HttpApi,
  type HttpCall,
  LateAnswer,
  notHttp,
} from './http-call.js';
export { inTime, type Patience } from './in-time.js';
export { keepAlive } from './keep-alive.js';
export { loopDelayOf, measureLoop } from './loop-delay.js';
export { randomNames } from './names.js';
export { OwnTimers } from './own-timers.js';
export { turnPace } from './pace.js';
export { policyPatterns } from './patterns.js';
export { bind, opened } from './open-port.js';
export { stackless } from './stackless.js';
export { amount, cutText, shownJson, shownLines, shownText, withoutPasswords } from './shown-text.js';
export { isThenable } from './thenable.js';
export { after } from './timer.js';
