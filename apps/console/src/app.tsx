import type { ComponentChildren, FunctionComponent } from 'preact';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { useResource } from './api/use-resource';
import { loadCapabilities } from './capabilities';
import { Help } from './help';
import { bind, listen, moveRow } from './keyboard';
import { Login } from './login';
import { address, type Address, href, navigate } from './router';
import { type Route, routeOf, routes } from './routes';
import { session, signOut } from './session';
import { nextTheme, theme } from './theme';
import { Mark } from './ui/mark';
import { Loaded, Loading, Notice } from './ui/states';
import { Toasts } from './ui/toasts';

/** The console: the login form, or the menu and a page. */
export function App() {
  const signedIn = session.value;
  return (
    <>
      {signedIn === undefined ? <Login /> : <Shell key={signedIn.user} user={signedIn.user} tags={signedIn.tags} />}
      <Toasts />
    </>
  );
}

function Shell({ user, tags }: { user: string; tags: readonly string[] }) {
  const [isHelpOpen, setHelpOpen] = useState(false);
  useEffect(listen, []);
  useEffect(
    () =>
      bind([
        { key: '?', text: 'Show the keys', run: () => setHelpOpen(true) },
        { key: 'j', text: 'Next row', run: () => moveRow(1) },
        { key: 'k', text: 'Previous row', run: () => moveRow(-1) },
        { key: '/', text: 'Filter', run: focusFilter },
        ...routes
          .filter(({ title }) => title !== undefined)
          .map(({ name, title = '', key = '' }) => ({
            key: `g ${key}`,
            text: title,
            run: () => navigate(href(name === '' ? [] : [name])),
          })),
      ]),
    [],
  );
  const route = routeOf(address.value);
  // What the pages offer depends on the rights of the user.
  const server = useResource('capabilities', loadCapabilities);
  return (
    <>
      <a class="skip" href="#main" onClick={toMain}>
        Skip to the page
      </a>
      <header class="top">
        <a class="brand" href={href([])}>
          <Mark />
          dlx-broker
        </a>
        <nav aria-label="Pages of the console">
          {routes
            .filter(({ title }) => title !== undefined)
            .map(({ name, title }) => (
              <a
                key={name}
                href={href(name === '' ? [] : [name])}
                aria-current={route?.name === name ? 'page' : undefined}
              >
                {title}
              </a>
            ))}
        </nav>
        <div class="who">
          <span title={tags.length === 0 ? 'no tags' : tags.join(', ')}>
            <bdi>{user}</bdi>
          </span>
          <button type="button" class="quiet" onClick={nextTheme} title="Light, dark, or as the system">
            {{ system: 'Auto', light: 'Light', dark: 'Dark' }[theme.value]}
          </button>
          <button type="button" class="quiet" onClick={() => setHelpOpen(true)} aria-label="Keys" title="Keys (?)">
            ?
          </button>
          <button type="button" class="quiet" onClick={() => signOut()}>
            Sign out
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Loaded of={server} what="this broker" lines={10}>
          {() =>
            route === undefined ? <Unknown /> : <RouteView key={route.name} route={route} address={address.value} />
          }
        </Loaded>
      </main>
      {isHelpOpen && <Help close={() => setHelpOpen(false)} />}
    </>
  );
}

/** Loads the code of a page when it is opened for the first time. */
function RouteView({ route, address: at }: { route: Route; address: Address }) {
  const [loaded, setLoaded] = useState<{ route: Route; Page: FunctionComponent<{ address: Address }> }>();
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let isShown = true;
    setFailed(false);
    route.load().then(
      ({ default: Page }) => isShown && setLoaded({ route, Page }),
      () => isShown && setFailed(true),
    );
    return () => void (isShown = false);
  }, [route]);
  useEffect(() => {
    document.title = `${route.title ?? at.segments.slice(1).join(' / ')} · dlx-broker`;
  }, [route, at]);
  if (failed) {
    return (
      <Notice kind="failed" title="This page could not be loaded">
        <p>The broker may have been updated. Reload the console.</p>
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </Notice>
    );
  }
  if (loaded?.route !== route) return <Loading />;
  return (
    <Guarded at={at}>
      <loaded.Page address={at} />
    </Guarded>
  );
}

/** A page, or a note in its place if it cannot be shown. The menu stays, and another address tries again. */
function Guarded({ at, children }: { at: Address; children: ComponentChildren }) {
  const [error, reset] = useErrorBoundary((fault: unknown) => console.error(fault)) as [unknown, () => void];
  useEffect(() => reset(), [at]);
  if (error === undefined) return <>{children}</>;
  return (
    <Notice kind="failed" title="This page cannot be shown">
      <p>{String(error)}</p>
      <button type="button" onClick={reset}>
        Try again
      </button>
    </Notice>
  );
}

function Unknown() {
  return (
    <Notice title="There is no such page">
      <p>
        <a href={href([])}>Overview</a>
      </p>
    </Notice>
  );
}

const focusFilter = (): void => document.querySelector<HTMLElement>('main [data-filter]')?.focus();

function toMain(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
