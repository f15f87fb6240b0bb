import type { ComponentChildren, FunctionComponent } from 'preact';
import { type Address, address, href, navigate } from './router';
import { bind, listen, moveRow, shortcuts } from './keyboard';
import { Dialog } from './ui/dialog';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { useResource } from './api/use-resource';
import { loadCapabilities } from './capabilities';
import { Login } from './login';
import { session, signOut } from './session';
import { nextTheme, theme } from './theme';
import { Mark } from './ui/parts';
import { Loaded, Loading, Notice } from './ui/states';
import { Toasts } from './ui/toasts';

/** A page of the console. `title` is undefined for pages that no menu lists. */
export interface Route {
  /** The first segment of the address. */
  readonly name: string;
  readonly title?: string;
  /** The key after `g` that opens the page. */
  readonly key?: string;
  /** The page is shown for addresses with so many segments after the name. */
  readonly segments: readonly number[];
  readonly load: () => Promise<{ readonly default: FunctionComponent<{ address: Address }> }>;
}

/** All pages, in the order of the menu. Another page is one row here and one file in `pages/`. */
export const routes: readonly Route[] = [
  { name: '', title: 'Overview', key: 'o', segments: [0], load: () => import('./pages/overview') },
  { name: 'dead-letters', title: 'Dead letters', key: 'd', segments: [0], load: () => import('./pages/dead-letters') },
  { name: 'dead-letters', segments: [3], load: () => import('./pages/message') },
  { name: 'queues', title: 'Queues', key: 'q', segments: [0], load: () => import('./pages/queues') },
  { name: 'queues', segments: [2], load: () => import('./pages/queue') },
  { name: 'topology', title: 'Topology', key: 't', segments: [0], load: () => import('./pages/topology') },
  { name: 'redrives', title: 'Redrives', key: 'r', segments: [0, 1], load: () => import('./pages/redrives') },
  { name: 'audit', title: 'Audit', key: 'a', segments: [0], load: () => import('./pages/audit') },
  { name: 'policies', title: 'Policies', key: 'p', segments: [0], load: () => import('./pages/policies') },
  { name: 'users', title: 'Users', key: 'u', segments: [0], load: () => import('./pages/users') },
  { name: 'connections', title: 'Connections', key: 'c', segments: [0], load: () => import('./pages/connections') },
];

/** The page of an address. */
export function routeOf({ segments }: Address): Route | undefined {
  const [name = '', ...rest] = segments;
  return routes.find((route) => route.name === name && route.segments.includes(rest.length));
}

/** Keys that are no shortcuts of a page: a row handles them itself while it has the focus. */
const ofRows = [{ key: 'Enter', text: 'Open the row' }];

/** The keys that work on this page. */
export function Help({ close }: { close: () => void }) {
  return (
    <Dialog title="Keys" close={close}>
      <dl class="keys">
        {[...shortcuts(), ...ofRows].map(({ key, text }) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((part) => (
                <kbd key={part}>{part}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

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
