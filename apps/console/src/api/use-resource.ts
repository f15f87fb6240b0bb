import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, apiErrorOf } from './http';

/** What a view knows of a resource of the API. Old data stay while newer ones load or fail. */
export interface Resource<T> {
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
  readonly loading: boolean;
  /** Milliseconds since 1970 of the last answer. */
  readonly at: number | undefined;
  readonly reload: () => void;
}

/**
 * Loads a resource, and again when its key changes.
 * @param key identifies the resource; another key forgets the data
 * @param load the request
 * @param every milliseconds between two loads; without it the resource is loaded once. A hidden tab loads nothing.
 */
export function useResource<T>(key: string, load: (signal: AbortSignal) => Promise<T>, every?: number): Resource<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: ApiError; at?: number }>({ key });
  const [loading, setLoading] = useState(true);
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const pause = useRef(every);
  pause.current = every;
  const waiting = useRef<() => unknown>(undefined);
  const reload = useCallback(() => setRound((count) => count + 1), []);

  useEffect(() => {
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = async (): Promise<void> => {
      if (document.hidden && pause.current !== undefined) return next();
      setLoading(true);
      try {
        const data = await latest.current(controller.signal);
        if (controller.signal.aborted) return;
        setState({ key, data, at: Date.now() });
      } catch (error) {
        if (controller.signal.aborted) return;
        const failure = apiErrorOf(error);
        setState((before) => (before.key === key ? { ...before, error: failure } : { key, error: failure }));
      }
      setLoading(false);
      next();
    };
    // Also called when the pause changes, which does not load what is here already.
    const next = (): void => {
      clearTimeout(timer);
      if (pause.current !== undefined) timer = setTimeout(() => void run(), pause.current);
    };
    waiting.current = () => timer !== undefined && next();
    void run();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [key, round]);

  useEffect(() => void waiting.current?.(), [every]);

  const isCurrent = state.key === key;
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    at: isCurrent ? state.at : undefined,
    loading,
    reload,
  };
}

/** As {@link useResource}, but the data of the last key stay (`isOld`) until those of the present one are there. */
export function useKeptResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  every?: number,
): Resource<T> & { readonly isOld: boolean } {
  const present = useResource(key, load, every);
  const kept = useRef<T>(undefined);
  if (present.data !== undefined) kept.current = present.data;
  else if (present.error !== undefined) kept.current = undefined;
  return { ...present, data: kept.current, isOld: present.data === undefined && kept.current !== undefined };
}

/** A request that a user starts: whether it is under way, and why the last one failed. */
export interface UserAction {
  readonly isBusy: boolean;
  readonly problem: string | undefined;
  setProblem(problem: string | undefined): void;
  /** Runs the request. A failure becomes the problem, a success clears it. */
  run(work: () => Promise<void>): Promise<void>;
}

/** One action of a form or a button. */
export function useAction(): UserAction {
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const run = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    try {
      await work();
      setProblem(undefined);
    } catch (error) {
      setProblem(apiErrorOf(error).message);
    }
    setBusy(false);
  };
  return { isBusy, problem, setProblem, run };
}
