import { Observable } from 'rxjs';

/**
 * The same values. What a subscriber throws at its end, in `finalize` for example, goes to `failed`: RxJS would throw it to the source,
 * whose other subscribers would hear nothing any more.
 */
export const guarded = <T>(source: Observable<T>, failed: (error: unknown) => void): Observable<T> =>
  new Observable((subscriber) => {
    const attempt = (call: () => void): void => {
      try {
        call();
      } catch (error) {
        failed(error);
      }
    };
    return source.subscribe({
      next: (value) => attempt(() => subscriber.next(value)),
      error: (error) => attempt(() => subscriber.error(error)),
      complete: () => attempt(() => subscriber.complete()),
    });
  });
