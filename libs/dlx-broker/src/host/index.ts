export { bracketed } from './bracketed.js';
export { SystemClock } from './clock.js';
export { HomeContext } from './home-context.js';
export { callHttp, type HttpAnswer, type HttpApi, type HttpCall, LateAnswer } from './http-call.js';
export { randomNames } from './names.js';
export { turnPace } from './pace.js';
export { policyPatterns } from './patterns.js';
export { cutText, shownJson, shownLines, shownText } from './shown-text.js';
export { after } from './timer.js';
