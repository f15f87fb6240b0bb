import { type Authenticate, isLoopback, type LoginThrottle } from '../users/index.js';

/** Somebody who says who it is. */
export interface Claim {
  readonly user: string;
  readonly password: string;
  readonly mechanism: string;
  /** Where it says so from. */
  readonly address: string;
}

/** Looks at the logins of a listener, at each user's not too often, and tells the operator of those it refuses. */
export class Gate {
  constructor(
    readonly authenticate: Authenticate,
    readonly throttle: LoginThrottle,
    readonly notice: (text: string) => void,
  ) {}

  /** A client cannot see why it is refused: a wrong password looks the same as too many of them. */
  admits({ user, password, mechanism, address }: Claim): boolean {
    const wait = this.throttle.refusedFor(address, user);
    const isAdmitted = wait === 0 && this.authenticate({ user, password, isLocal: isLoopback(address) });
    if (wait === 0) this.throttle.tried(address, user, isAdmitted);
    if (!isAdmitted) {
      const why = wait === 0 ? 'invalid credentials' : `too many failures, ${Math.ceil(wait / 1000)} s to wait`;
      // In quotes with everything odd escaped: the name is a stranger's.
      this.notice(`${mechanism} login refused: user ${JSON.stringify(user)} at ${address} - ${why}`);
    }
    return isAdmitted;
  }
}
