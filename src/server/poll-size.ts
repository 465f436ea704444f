import type { Clock } from "../process/clock.ts";
import type { EtcdClient } from "../storage/etcd/client/etcd-client.ts";
import { numberOf } from "../storage/etcd/client/messages.ts";

const timeoutMs = 5_000;

export interface PollSizeOptions {
  readonly client: EtcdClient;
  readonly clock: Clock;
  /** 0 to ask nothing. */
  readonly intervalMs: number;
  readonly onSize: (bytes: number) => void;
}

/** Asks etcd for the size of its database, now and at every interval. */
export function pollSize({ client, clock, intervalMs, onSize }: PollSizeOptions): Disposable {
  const poll = () =>
    void client.status(timeoutMs).then(
      ({ dbSize }) => onSize(numberOf(dbSize)),
      // The client reports members that do not answer.
      () => undefined,
    );
  if (intervalMs === 0) return { [Symbol.dispose]: () => undefined };
  poll();
  return clock.every(intervalMs, poll);
}
