import type { APIService, APIServiceCondition } from "../../api/types/apiregistration-v1.ts";

/** The state of an APIService, without the time of its last change. */
export interface Availability {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

/** The state of every group version that this server itself serves. */
export const locallyAvailable: Availability = {
  status: "True",
  reason: "Local",
  message: "Local APIServices are always available",
};

export function availableCondition({ status }: APIService): APIServiceCondition | undefined {
  return status?.conditions?.find(({ type }) => type === "Available");
}

/**
 * Returns the APIService with its Available condition set; the same one if nothing changes. The time of the condition
 * changes with its status only.
 */
export function withAvailability(service: APIService, wanted: Availability, now: string): APIService {
  const before = availableCondition(service);
  const isSame =
    before?.status === wanted.status && before.reason === wanted.reason && before.message === wanted.message;
  if (isSame) return service;
  const since = before?.status === wanted.status ? before.lastTransitionTime : undefined;
  const { status, reason, message } = wanted;
  const next = { type: "Available", status, lastTransitionTime: since ?? now, reason, message };
  const conditions = service.status?.conditions ?? [];
  return {
    ...service,
    status: {
      ...service.status,
      conditions: before === undefined ? [...conditions, next] : conditions.map((one) => (one === before ? next : one)),
    },
  };
}
