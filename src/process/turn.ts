/**
 * Lets everything else that is due run before a long piece of work continues: timers, messages of other replicas, other
 * requests. Each turn of the event loop resumes one piece of work, so that many do not add up to a long turn. The queue
 * is bounded by the number of requests in flight.
 */
export function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (waiting.push(resolve) === 1) setImmediate(releaseFirst);
  return promise;
}

const waiting: (() => void)[] = [];

function releaseFirst(): void {
  const resume = waiting.shift();
  if (waiting.length > 0) setImmediate(releaseFirst);
  resume?.();
}
