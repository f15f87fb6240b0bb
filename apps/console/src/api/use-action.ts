import { useState } from 'preact/hooks';
import { apiErrorOf } from './http';

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
