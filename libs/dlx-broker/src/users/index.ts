export { type Authenticate, isLoopback, type Login, usersOf } from './authenticate.js';
export { defaultHashing, type HashedPassword, hashPassword, keep, keptPassword, verifyPassword } from './password.js';
export { guestOf, letIn, refuseUnknownVhosts, type ServedUser } from './served-user.js';
export { LoginLog } from './login-log.js';
export { LoginThrottle, networkOf } from './login-throttle.js';
export { type Newcomer, type NewcomerLimits, Newcomers } from './newcomers.js';
export { type Claim, type LoginAttempt, Logins } from './logins.js';
