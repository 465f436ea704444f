import { StatusError } from "../../api/status.ts";
import type { Event } from "../../api/types/core-v1.ts";
import type { Client, ResourceType } from "../../client/client.ts";
import { NoAnswerError } from "../../client/transport.ts";
import type { Clock } from "../../process/clock.ts";
import { EventQueue } from "./event-queue.ts";

const events: ResourceType<Event> = { group: "", version: "v1", resource: "events" };
const timeoutMs = 10_000;

export interface ClientEventRecorderParts {
  readonly client: Pick<Client, "create" | "patch">;
  readonly clock: Clock;
  readonly component: string;
  readonly onError: (error: unknown) => void;
}

/** Returns a queue that records Events through an API server. One queue serves all nodes of a process. */
export function clientEventRecorder({ client, clock, component, onError }: ClientEventRecorderParts): EventQueue {
  const write = async (event: Event): Promise<void> => {
    const { name = "", namespace } = event.metadata;
    if ((event.count ?? 1) > 1) {
      const { count, lastTimestamp, message } = event;
      const document = { count: count ?? 1, lastTimestamp: lastTimestamp ?? "", message: message ?? "" };
      try {
        await client.patch(events, { namespace, name }, { kind: "strategic", document }, { timeoutMs });
        return;
      } catch (error) {
        const hasExpired = error instanceof StatusError && error.code === 404;
        if (!hasExpired) throw error;
      }
    }
    await client.create(events, event, { timeoutMs });
  };
  const reportUnexpected = (error: unknown): void => {
    // The namespace may be terminating, or the server may not be reachable.
    if (!(error instanceof StatusError || error instanceof NoAnswerError)) onError(error);
  };
  return new EventQueue({ clock, component, write, onError: reportUnexpected });
}
