/**
 * Lets everything else that is due run before a long piece of work goes on: timers, messages of the other replicas, other
 * requests. One piece of work goes on in each turn of the event loop, so that many do not add up to a long turn. As many
 * wait as requests are let in.
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
