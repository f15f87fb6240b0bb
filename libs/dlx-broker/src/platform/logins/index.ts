export { doubtsAbout } from './served-user.js';
export { type Authenticate, isLoopback, type Login, usersOf } from './logins.js';
export {
  defaultHashing,
  type HashedPassword,
  hashPassword,
  storedHash,
  parseStoredHash,
  verifyPassword,
} from './password.js';
export { guestOf, addUsers, refuseUnknownVhosts, type ServedUser } from './served-user.js';
export { LoginThrottle, networkOf } from './login-throttle.js';
export { type PendingLogin, PendingLogins } from './pending-logins.js';
export { endsOf } from './pending-logins.js';
export { type Credentials, type LoginAttempt, type Logins, loginsOf } from './logins.js';
