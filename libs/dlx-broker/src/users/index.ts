export { type Authenticate, hashPassword, isLoopback, type Login, usersOf, verifyPassword } from './authenticate.js';
export { guestOf, letIn, type ServedUser } from './served-user.js';
export { LoginThrottle } from './login-throttle.js';
