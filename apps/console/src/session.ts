import { effect, type Signal, signal } from '@preact/signals';

/** The user of the management API who is signed in. */
export interface Session {
  readonly user: string;
  readonly tags: readonly string[];
  /** The value of the Authorization header. */
  readonly authorization: string;
}

/** The credentials live as long as the tab, and never on the disk. */
const storageKey = 'dlx-console-session';

/** Undefined: no user is signed in. */
export const session = signal<Session | undefined>(restored());

/** The reason that the login form shows, for example after the password was changed on the server. */
export const loginNotice = signal<string | undefined>(undefined);

/** A value that belongs to the user who is signed in. It is forgotten when the session ends, so the next user does not see it. */
export function ofSession<T>(initial: T): Signal<T> {
  const value = signal(initial);
  effect(() => {
    if (session.value === undefined) value.value = initial;
  });
  return value;
}

/** The value of an Authorization header. User names and passwords are sent as UTF-8. */
export function basicAuthorization(user: string, password: string): string {
  const bytes = new TextEncoder().encode(`${user}:${password}`);
  return `Basic ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))}`;
}

/** Begins a session with credentials that the server has accepted. */
export function signIn(next: Session): void {
  session.value = next;
  loginNotice.value = undefined;
  sessionStorage.setItem(storageKey, JSON.stringify(next));
}

/** Ends the session. */
export function signOut(notice?: string): void {
  session.value = undefined;
  loginNotice.value = notice;
  sessionStorage.removeItem(storageKey);
}

/** True if the user may change things that belong to all, such as policies and users. */
export const isAdministrator = (): boolean => session.value?.tags.includes('administrator') ?? false;

/** True if the user only looks: the tag `monitoring` without `administrator`. The server checks all other rights. */
export const isReadOnly = (): boolean => (session.value?.tags.includes('monitoring') ?? false) && !isAdministrator();

function restored(): Session | undefined {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null');
    if (typeof stored !== 'object' || stored === null) return undefined;
    const { user, tags, authorization } = stored as Partial<Session>;
    if (typeof user !== 'string' || typeof authorization !== 'string' || !Array.isArray(tags)) return undefined;
    return { user, tags, authorization };
  } catch {
    return undefined;
  }
}
