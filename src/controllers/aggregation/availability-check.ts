import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import { type AggregatedBackends, BackendError } from "../../client/aggregation/aggregated-backend.ts";
import type { RemoteApi } from "../../client/aggregation/remote-api.ts";
import { Deadline } from "../../client/deadline.ts";
import { authorityOf } from "../../client/dial-error.ts";
import type { ServiceLookup } from "../../client/service-endpoints.ts";
import type { Availability } from "../../kinds/apiregistration/available-condition.ts";
import type { Clock } from "../../process/clock.ts";
import type { UserInfo } from "../../request/user-info.ts";

/** Number of concurrent requests. One success is enough, so one bad endpoint of several does no harm. */
const attempts = 5;
const timeoutMs = 5_000;
/** The user of the requests, whom every backend must allow discovery. */
const checker: UserInfo = {
  name: "system:kube-aggregator",
  uid: "",
  groups: ["system:masters"],
  extra: new Map(),
};

export interface AvailabilityCheckParts {
  readonly backends: Pick<AggregatedBackends, "resolve" | "send" | "tlsOf" | "forgetIdle">;
  readonly services: ServiceLookup;
  readonly clock: Clock;
}

const passed: Availability = { status: "True", reason: "Passed", message: "all checks passed" };

/**
 * Checks whether a service serves a group version: first by its objects, then by a request.
 * @param path of the discovery document that it must serve
 * @throws BackendError `unusable` for an APIService that is not usable in its current form, which does not concern the
 * service
 */
export async function checkAvailability(
  remote: RemoteApi,
  path: string,
  parts: AvailabilityCheckParts,
): Promise<Availability> {
  const problem = problemOfService(remote, parts.services);
  if (problem !== undefined) return problem;
  parts.backends.tlsOf(remote);
  const message = await problemOfAnswers(remote, path, parts);
  return message === undefined ? passed : { status: "False", reason: "FailedDiscoveryCheck", message };
}

function problemOfService({ namespace, name, port }: RemoteApi, services: ServiceLookup): Availability | undefined {
  const no = (reason: string, message: string): Availability => ({ status: "False", reason, message });
  const place = `service/${name} in ${JSON.stringify(namespace)}`;
  const service = services.service(namespace, name);
  if (service === undefined) return no("ServiceNotFound", `${place} is not present`);
  const { type = "ClusterIP", ports } = service.spec ?? {};
  if (type !== "ClusterIP") return undefined;
  const served = ports?.find((one) => one.port === port);
  if (served === undefined) return no("ServicePortError", `${place} is not listening on port ${port}`);
  const slices = services.endpointSlices(namespace, name);
  if (slices.length === 0) return no("EndpointsNotFound", `cannot find endpointslices for ${place}`);
  const portName = served.name ?? "";
  if (slices.some((slice) => hasReadyEndpoint(slice, portName))) return undefined;
  const what = `have no addresses with port name ${JSON.stringify(portName)}`;
  return no("MissingEndpoints", `endpointslices for ${place} ${what}`);
}

function hasReadyEndpoint({ endpoints, ports }: EndpointSlice, portName: string): boolean {
  const isReady = endpoints?.some(({ conditions }) => conditions?.ready !== false) ?? false;
  return isReady && (ports?.some(({ name, port }) => (name ?? "") === portName && typeof port === "number") ?? false);
}

/** Returns the problem of the last answer if no answer is right; otherwise undefined. */
async function problemOfAnswers(
  remote: RemoteApi,
  path: string,
  parts: AvailabilityCheckParts,
): Promise<string | undefined> {
  const deadline = new Deadline(parts.clock, timeoutMs, undefined);
  let last = "";
  const tries = Array.from({ length: attempts }, async () => {
    try {
      await ask(remote, path, deadline.signal, parts);
    } catch (error) {
      last = (error as Error).message;
      throw error;
    }
  });
  // The others may go on after a success: a backend would report a request that is broken off.
  void Promise.allSettled(tries).then(() => deadline[Symbol.dispose]());
  try {
    await Promise.any(tries);
    return undefined;
  } catch {
    return last;
  }
}

async function ask(
  remote: RemoteApi,
  target: string,
  signal: AbortSignal,
  { backends }: AvailabilityCheckParts,
): Promise<void> {
  const at = backends.resolve(remote);
  const url = `https://${authorityOf(at)}${target}`;
  let code: number;
  try {
    const answer = await backends.send(remote, { method: "GET", target, headers: [], user: checker, signal }, at);
    code = answer.code;
    answer.body.resume();
  } catch (error) {
    backends.forgetIdle(at);
    throw new Error(`failing or missing response from ${url}: Get ${JSON.stringify(url)}: ${causeOf(error)}`);
  }
  if (code >= 200 && code < 300) return;
  throw new Error(`failing or missing response from ${url}: bad status from ${url}: ${code}`);
}

function causeOf(error: unknown): string {
  if (error instanceof BackendError) return error.message;
  return "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
}
