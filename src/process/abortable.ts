/** Waits for work until a signal ends the wait. The work may continue; its outcome no longer matters. */
export function abortable<T>(work: T | Promise<T>, signal: AbortSignal): T | Promise<T> {
  if (!(work instanceof Promise)) return work;
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  return promise;
}
