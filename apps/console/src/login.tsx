import { useState } from 'preact/hooks';
import { ApiError, request } from './api/http';
import { basicAuthorization, loginNotice, signIn } from './session';
import { Mark } from './ui/parts';
import { ProblemBanner } from './ui/states';

/** Signs a user of the management API in. The password goes to the broker only, and is kept until the tab closes. */
export function Login() {
  const [user, setUser] = useState('');
  const [password, setPassword] = useState('');
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    const authorization = basicAuthorization(user, password);
    try {
      const { name, tags } = await request<{ name: string; tags: readonly string[] | string }>('whoami', {
        authorization,
      });
      signIn({ user: name, tags: typeof tags === 'string' ? tags.split(',').filter(Boolean) : tags, authorization });
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };

  return (
    <main class="login">
      <form onSubmit={submit}>
        <h1>
          <Mark />
          dlx-broker
        </h1>
        {loginNotice.value !== undefined && <p class="banner">{loginNotice.value}</p>}
        <label>
          User
          <input
            name="user"
            autocomplete="username"
            autofocus
            required
            value={user}
            onInput={(event) => setUser(event.currentTarget.value)}
          />
        </label>
        <label>
          Password
          <input
            name="password"
            type="password"
            autocomplete="current-password"
            value={password}
            onInput={(event) => setPassword(event.currentTarget.value)}
          />
        </label>
        <ProblemBanner text={problem} />
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? 'Signing in' : 'Sign in'}
        </button>
        <p class="muted">
          A user of the management API. On this machine the broker accepts <code>guest</code> / <code>guest</code>{' '}
          unless it was configured otherwise.
        </p>
      </form>
    </main>
  );
}

function problemOf(error: unknown): string {
  if (!(error instanceof ApiError)) return String(error);
  if (error.status === 429) return 'Too many failed logins. Wait some seconds and try again.';
  if (error.status !== 401) return error.message;
  return error.message === 'Login failed'
    ? 'The broker does not accept this user and password.'
    : `${error.message}. The console needs a user with the tag management, monitoring or administrator.`;
}
